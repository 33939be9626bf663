"""One file per format. Each reader takes a `Request` and gives a `Table`."""
