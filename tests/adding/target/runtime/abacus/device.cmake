add_device(abacus)
