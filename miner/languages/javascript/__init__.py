"""JavaScript and TypeScript in the miner: Node, package managers, test runners."""
