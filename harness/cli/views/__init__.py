"""What commands show, for a person and for a program."""
