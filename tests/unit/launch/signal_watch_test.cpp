#include "launch/signal_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopmark/error.h"

namespace flopmark {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void (*handler_of(int signal))(int) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

void own_handler(int) {}

TEST(SignalWatch, CollectsSignalsAndRestoresHandlers) {
  std::signal(SIGINT, own_handler);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGHUP, SIG_DFL);
  std::signal(SIGQUIT, SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGCHLD, SIG_IGN);
  {
    SignalWatch watch;
    EXPECT_THAT(watch.take(), IsEmpty());
    std::raise(SIGINT);
    std::raise(SIGTERM);
    std::raise(SIGHUP);
    std::raise(SIGQUIT);
    EXPECT_THAT(watch.take(), ElementsAre(SIGINT, SIGTERM, SIGHUP, SIGQUIT));
    EXPECT_THAT(watch.take(), IsEmpty());
    EXPECT_EQ(handler_of(SIGPIPE), SIG_IGN);
    EXPECT_EQ(handler_of(SIGCHLD), SIG_DFL);
  }
  EXPECT_EQ(handler_of(SIGINT), own_handler);
  EXPECT_EQ(handler_of(SIGTERM), SIG_DFL);
  EXPECT_EQ(handler_of(SIGHUP), SIG_DFL);
  EXPECT_EQ(handler_of(SIGQUIT), SIG_DFL);
  EXPECT_EQ(handler_of(SIGPIPE), SIG_DFL);
  EXPECT_EQ(handler_of(SIGCHLD), SIG_IGN);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGCHLD, SIG_DFL);
}

TEST(SignalWatch, LeavesIgnoredSignalsIgnored) {
  std::signal(SIGHUP, SIG_IGN);
  {
    SignalWatch watch;
    std::raise(SIGHUP);
    EXPECT_THAT(watch.take(), IsEmpty());
  }
  EXPECT_EQ(handler_of(SIGHUP), SIG_IGN);
  std::signal(SIGHUP, SIG_DFL);
}

TEST(SignalWatch, OneAtATime) {
  SignalWatch watch;
  EXPECT_THROW(SignalWatch(), Error);
}

TEST(SignalName, KnowsTheUsualOnes) {
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(SIGKILL), "SIGKILL");
  EXPECT_EQ(signal_name(64), "signal 64");
}

}  // namespace
}  // namespace flopmark
