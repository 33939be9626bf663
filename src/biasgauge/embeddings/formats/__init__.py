"""One file per format, with a `FORMAT` that the registry finds. A reader takes a `Request` and gives a `Table`."""
