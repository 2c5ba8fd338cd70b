#include "fuzz/outside.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "impl/import/import.h"
#include "ref/graph/error.h"
#include "ref/graph/region.h"

namespace writeback::fuzz {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostBytes = std::size_t{64} << 20;  ///< of one reply
constexpr std::size_t kMostErrors = 1 << 16;

Json alias_json(const Program& program) {
  Json groups = Json::array();
  for (const auto& group : program.alias_groups) {
    Json members = Json::array();
    for (const AliasMember& m : group) {
      Json member{{"name", program.graph.name_of(m.value)}};
      const TensorMeta* meta = tensor_meta(program.graph.meta_of(m.value));
      AliasMember::Geometry g;
      if (m.geometry)
        g = *m.geometry;
      else if (meta != nullptr) {
        for (const SymInt& s : meta->sizes) g.sizes.push_back(s.is_number() ? s.number() : 1);
        g.strides = contiguous_strides(g.sizes);
      }
      member["offset"] = g.offset;
      member["sizes"] = g.sizes;
      member["strides"] = g.strides;
      members.push_back(std::move(member));
    }
    groups.push_back(std::move(members));
  }
  return groups;
}

void close_all(std::initializer_list<int> ends) {
  for (const int end : ends) {
    if (end >= 0) close(end);
  }
}

}  // namespace

std::string request_for(const Program& program, const Options& options) {
  Json share = Json::object();
  for (const ShareAllocation& s : program.share_allocations) share[program.graph.node(s.node).name] = s.argument;
  std::vector<std::string> schemas = program.schemas;
  schemas.insert(schemas.end(), options.schemas.begin(), options.schemas.end());
  const Json request{{"program", Json::parse(impl::write_json(program))},
                     {"alias", alias_json(program)},
                     {"share_alloc", share},
                     {"schemas", schemas},
                     {"options",
                      {{"lowering", options.lowering == Lowering::none ? "none" : "executorch"},
                       {"semantics", options.semantics == Semantics::sequential ? "sequential" : "parallel"},
                       {"trust", options.trusted}}}};
  return request.dump();
}

Answer answer_of(const std::string& reply) {
  Answer answer;
  answer.kind = Answer::Kind::malformed;
  const Json json = Json::parse(reply, nullptr, false);
  if (!json.is_object()) {
    answer.message = "the reply is no JSON object: " + reply.substr(0, 200);
  } else if (json.contains("error") && json["error"].is_string()) {
    answer.kind = Answer::Kind::refused;
    answer.message = json["error"];
  } else if (!json.contains("program")) {
    answer.message = "the reply has neither \"program\" nor \"error\"";
  } else {
    try {
      answer.program = impl::read_json(json["program"].dump());
      answer.kind = Answer::Kind::rewritten;
    } catch (const InputError& e) {
      answer.message = std::string("the program of the reply: ") + e.what();
    }
  }
  return answer;
}

Outside::~Outside() { end(); }

void Outside::start() {
  int in[2], out[2], err[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
    throw std::runtime_error("cannot open pipes");
  signal(SIGPIPE, SIG_IGN);
  pid_ = fork();
  if (pid_ == 0) {
    setpgid(0, 0);  // so that a time-out ends what the shell has started too
    dup2(in[0], 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    signal(SIGPIPE, SIG_DFL);
    execl("/bin/sh", "sh", "-c", command_.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close_all({in[0], out[1], err[1]});
  if (pid_ < 0) throw std::runtime_error("cannot start " + command_);
  setpgid(pid_, pid_);
  in_ = in[1], out_ = out[0], err_ = err[0];
  for (const int end : {in_, out_, err_}) fcntl(end, F_SETFL, O_NONBLOCK);
  buffer_.clear();
  errors_.clear();
  fresh_ = true;
}

void Outside::end() {
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  close_all({in_, out_, err_});
  pid_ = 0;
  in_ = out_ = err_ = -1;
}

/// Writes while reading, since a process may answer (or complain) before it has read everything.
bool Outside::send(const std::string& line) {
  std::size_t sent = 0;
  const auto until = Clock::now() + std::chrono::duration<double>(allowance());
  while (sent < line.size() && Clock::now() < until) {
    pollfd polls[] = {{in_, POLLOUT, 0}, {err_, POLLIN, 0}};
    poll(polls, 2, 100);
    char bytes[4096];
    for (ssize_t n; (n = read(err_, bytes, sizeof bytes)) > 0;) errors_.append(bytes, static_cast<std::size_t>(n));
    const ssize_t n = write(in_, line.data() + sent, line.size() - sent);
    if (n > 0)
      sent += static_cast<std::size_t>(n);
    else if (n < 0 && errno != EAGAIN)
      return false;
  }
  return sent == line.size();
}

Outside::Wait Outside::receive(std::string& line) {
  const auto until = Clock::now() + std::chrono::duration<double>(allowance());
  for (;;) {
    const std::size_t at = buffer_.find('\n');
    if (at != std::string::npos) {
      line = buffer_.substr(0, at);
      buffer_.erase(0, at + 1);
      fresh_ = false;
      return Wait::line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0 || buffer_.size() > kMostBytes) return Wait::too_long;
    pollfd polls[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
    poll(polls, 2, static_cast<int>(left));
    char bytes[1 << 14];
    for (ssize_t n; (n = read(err_, bytes, sizeof bytes)) > 0;) {
      if (errors_.size() < kMostErrors) errors_.append(bytes, static_cast<std::size_t>(n));
    }
    const ssize_t n = read(out_, bytes, sizeof bytes);
    if (n > 0) buffer_.append(bytes, static_cast<std::size_t>(n));
    if (n == 0) return Wait::ended;
  }
}

/// The last line of a Python traceback names the error; other programs say it first.
Answer Outside::ended() {
  Answer answer;
  answer.kind = Answer::Kind::crashed;
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = 0;
  close_all({in_, out_, err_});
  while (!errors_.empty() && errors_.back() == '\n') errors_.pop_back();
  const std::size_t last = errors_.rfind('\n');
  const bool traceback = errors_.find("Traceback") != std::string::npos;
  answer.message = traceback && last != std::string::npos ? errors_.substr(last + 1) : errors_.substr(0, errors_.find('\n'));
  if (answer.message.empty())
    answer.message =
        WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status)) : fmt::format("exit status {}", WEXITSTATUS(status));
  return answer;
}

Answer Outside::place(const Program& program, const Options& options) {
  if (pid_ == 0) start();
  const double allowed = allowance();
  Answer answer;
  std::string reply;
  if (!send(request_for(program, options) + "\n")) {
    // It may have ended, with a word on standard error, or not be reading.
    if (receive(reply) == Wait::ended) return ended();
    end();
    answer.kind = Answer::Kind::timed_out;
    answer.message = "the request was not read in time";
    return answer;
  }
  switch (receive(reply)) {
    case Wait::line:
      return answer_of(reply);
    case Wait::ended:
      return ended();
    case Wait::too_long:
      break;
  }
  end();
  answer.kind = Answer::Kind::timed_out;
  answer.message = fmt::format("no reply in {} s", allowed);
  return answer;
}

}  // namespace writeback::fuzz
