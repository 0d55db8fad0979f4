"""Values of the field, errors, files and processes: what every room stands on."""
