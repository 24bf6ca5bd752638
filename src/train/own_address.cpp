#include "train/own_address.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

namespace flopmark {
namespace {

/// A UDP socket "connected" to `there`: the kernel chooses the route and with it the own address.
std::string address_of_route(const addrinfo& there) {
  const int socket = ::socket(there.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return "";
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  char text[NI_MAXHOST] = "";
  const bool known = ::connect(socket, there.ai_addr, there.ai_addrlen) == 0 &&
                     ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
                     ::getnameinfo(reinterpret_cast<const sockaddr*>(&own), size, text, sizeof text, nullptr,
                                   0, NI_NUMERICHOST) == 0;
  ::close(socket);
  return known ? text : "";
}

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

/// Empty where `host` is not known.
AddressList addresses_of(const std::string& host, int64_t port, int socket_type) {
  addrinfo hints{};
  hints.ai_socktype = socket_type;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) found = nullptr;
  return {found, &::freeaddrinfo};
}

bool accepts_at(const addrinfo& there, double limit_s) {
  const int socket = ::socket(there.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return false;
  ::connect(socket, there.ai_addr, there.ai_addrlen);
  pollfd ready{.fd = socket, .events = POLLOUT, .revents = 0};
  int error = 0;
  socklen_t size = sizeof error;
  const bool accepted = ::poll(&ready, 1, static_cast<int>(limit_s * 1e3)) == 1 &&
                        ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
  ::close(socket);
  return accepted;
}

}  // namespace

bool is_known_host(const std::string& host) {
  return addresses_of(host, 0, SOCK_STREAM) != nullptr;
}

bool accepts_connections(const std::string& host, int64_t port, double limit_s) {
  const AddressList list = addresses_of(host, port, SOCK_STREAM);
  for (const addrinfo* there = list.get(); there != nullptr; there = there->ai_next) {
    if (accepts_at(*there, limit_s)) return true;
  }
  return false;
}

std::string own_address_toward(const std::string& host, int64_t port) {
  const AddressList list = addresses_of(host, port, SOCK_DGRAM);
  for (const addrinfo* there = list.get(); there != nullptr; there = there->ai_next) {
    const std::string address = address_of_route(*there);
    if (!address.empty()) return address;
  }
  return "";
}

std::string own_host_name() {
  char name[256] = "";
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

}  // namespace flopmark
