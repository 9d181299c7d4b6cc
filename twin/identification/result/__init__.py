"""Result of an identification: statistics, the file of the identified machine, a page."""
