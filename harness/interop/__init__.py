"""Other tools and other places: exports of tasks, predictions of agents, datasets in object stores."""
