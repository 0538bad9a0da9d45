"""The extension that opens every source: loaded when one that is not this machine's is asked for."""

opener: object
