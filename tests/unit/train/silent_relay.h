#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

namespace flopmark::test {

/// Passes bytes between those who connect to port() and a port of this host, until it falls silent: then
/// connections stay open and nothing arrives, as when a network is cut.
class SilentRelay {
 public:
  explicit SilentRelay(int64_t to_port) : to_port_(to_port), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 8) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("cannot listen");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~SilentRelay() {
    ends_ = true;
    thread_.join();
    for (const pollfd& each : sockets_) ::close(each.fd);
  }
  SilentRelay(const SilentRelay&) = delete;
  SilentRelay& operator=(const SilentRelay&) = delete;

  int64_t port() const { return port_; }
  void fall_silent() { silent_ = true; }

 private:
  static sockaddr_in loopback(int64_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    return address;
  }
  void run() {
    sockets_ = {{listener_, POLLIN, 0}};
    while (!ends_) {
      const int ready = silent_ ? 0 : ::poll(sockets_.data(), sockets_.size(), 20);
      if (ready <= 0) std::this_thread::sleep_for(std::chrono::milliseconds(silent_ ? 20 : 0));
      if (ready <= 0 || silent_) continue;
      for (size_t i = 1; i < sockets_.size(); ++i) {  // each pair: 1 and 2, 3 and 4
        if (sockets_[i].revents != 0) pass(sockets_[i].fd, sockets_[i % 2 == 1 ? i + 1 : i - 1].fd);
      }
      if (sockets_[0].revents != 0) join(::accept(listener_, nullptr, nullptr));
    }
  }
  void join(int client) {
    const int server = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = loopback(to_port_);
    ::connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address);
    sockets_.push_back({client, POLLIN, 0});
    sockets_.push_back({server, POLLIN, 0});
  }
  static void pass(int from, int to) {
    std::array<char, 4096> bytes{};
    const ssize_t size = ::recv(from, bytes.data(), bytes.size(), 0);
    if (size > 0) {
      ::send(to, bytes.data(), static_cast<size_t>(size), MSG_NOSIGNAL);
    } else {
      ::shutdown(to, SHUT_WR);
    }
  }

  int64_t to_port_, port_ = 0;
  int listener_;
  std::vector<pollfd> sockets_;
  std::atomic<bool> silent_{false}, ends_{false};
  std::thread thread_;
};

}  // namespace flopmark::test
