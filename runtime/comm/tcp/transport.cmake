add_transport(tcp OpenSSL::Crypto)
