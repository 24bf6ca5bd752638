#pragma once

#include <cstdint>
#include <string>

namespace flopmark {

/// The address of this host from which `host` is reached, numeric; empty where that cannot be told. Sends
/// nothing.
std::string own_address_toward(const std::string& host, int64_t port);

/// Whether a name service of this host knows `host`, or it is an address.
bool is_known_host(const std::string& host);

/// Whether something accepts connections there, within `limit_s` of trying.
bool accepts_connections(const std::string& host, int64_t port, double limit_s);

/// The name of this host, as it calls itself.
std::string own_host_name();

}  // namespace flopmark
