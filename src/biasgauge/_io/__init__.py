"""Reading and writing that cannot half-succeed: whole files, bounded memory, known bytes."""
