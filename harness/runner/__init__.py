"""What runs inside a task's container; read as text, never imported here."""
