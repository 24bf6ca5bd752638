#include "launch/find_range.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <vector>

#include "flopmark/error.h"
#include "launch/printable_text.h"
#include "results/git.h"

namespace flopmark {
namespace {

constexpr size_t kShownDigits = 10, kShownErrorBytes = 500;
constexpr char kRecord = '\x1e', kField = '\x1f';

std::string shown(const std::string& reference, const std::string& commit) {
  const std::string digits = commit.substr(0, kShownDigits);
  return commit.starts_with(reference) ? digits : fmt::format("{} ({})", reference, digits);
}

bool is_shallow(const GitProgram& git) {
  return git.ask({"rev-parse", "--is-shallow-repository"}).text == "true";
}

constexpr const char* kDeepen =
    "this is a shallow clone, which lacks older commits: fetch them with git fetch --unshallow";

std::string existing_commit(const RangeRequest& request, const std::string& option,
                            const std::string& reference, const GitProgram& git) {
  try {
    return commit_of(request.top, reference);
  } catch (const Error& error) {
    throw usage_error(
        fmt::format("--{} {}{}", option, error.what(), is_shallow(git) ? fmt::format("; {}", kDeepen) : ""));
  }
}

/// Whether one is an ancestor of the other. Anything but yes and no is git's own trouble.
bool leads_to(const std::string& older, const std::string& newer, const GitProgram& git) {
  const GitProgram::Answer answer = git.ask({"merge-base", "--is-ancestor", older, newer});
  if (!answer.ok && answer.code != 1) {
    throw usage_error(fmt::format("git merge-base: {}", printable_text(answer.errors, kShownErrorBytes)));
  }
  return answer.ok;
}

[[noreturn]] void refuse_order(const RangeRequest& request, const CommitRange& ends, const GitProgram& git) {
  const std::string good = shown(request.good, ends.good), bad = shown(request.bad, ends.bad);
  if (leads_to(ends.bad, ends.good, git)) {
    throw usage_error(fmt::format(
        "--good {} is newer than --bad {}: what became slower lies between an older good and a newer bad "
        "commit; exchange them, or name an older good one",
        good, bad));
  }
  if (is_shallow(git)) {
    throw usage_error(fmt::format("--good {} does not lead to --bad {} here: {}", good, bad, kDeepen));
  }
  const GitProgram::Answer base = git.ask({"merge-base", ends.good, ends.bad});
  if (!base.ok || base.text.empty()) {
    throw usage_error(
        fmt::format("--good {} and --bad {} have no common history: a bisection needs a good commit that led "
                    "to the bad one",
                    good, bad));
  }
  throw usage_error(fmt::format(
      "--good {} did not lead to --bad {}: they parted at {}; if that one is good, give --good {}", good, bad,
      base.text.substr(0, kShownDigits), base.text.substr(0, kShownDigits)));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end = text.find(separator); end != std::string::npos; end = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// One commit as git lists it: hash, parents, subject.
using Row = std::vector<std::string>;

/// Oldest first. `limits`: what to list of good..bad. With --parents, those left out do not count as parents.
std::vector<Row> list_commits(const CommitRange& ends, const std::vector<std::string>& limits,
                              const std::vector<std::string>& paths, const GitProgram& git) {
  std::vector<std::string> arguments{"log",
                                     "--topo-order",
                                     "--reverse",
                                     "--no-color",
                                     "--no-show-signature",
                                     "--no-follow",
                                     "--encoding=UTF-8",
                                     "--format=%x1e%H%x1f%P%x1f%s"};
  arguments.insert(arguments.end(), limits.begin(), limits.end());
  arguments.insert(arguments.end(), {ends.good + ".." + ends.bad, "--"});
  arguments.insert(arguments.end(), paths.begin(), paths.end());
  std::vector<Row> rows;
  for (std::string& record : split(git.output_of(arguments), kRecord)) {
    while (record.ends_with('\n')) record.pop_back();
    Row row = split(record, kField);
    if (row.size() >= 3) rows.push_back(std::move(row));
  }
  return rows;
}

std::string first_word(const std::string& text) {
  return text.substr(0, text.find(' '));
}

/// The first parents as they are, whatever was left out of the list.
void set_first_parents(CommitRange& range, const GitProgram& git) {
  std::unordered_map<std::string, std::string> parents;
  for (const Row& row : list_commits(range, {}, {}, git)) parents[row[0]] = first_word(row[1]);
  for (RangeCommit& commit : range.commits) commit.parent = parents[commit.hash];
}

std::vector<RangeCommit> range_commits(const std::vector<Row>& rows) {
  std::vector<RangeCommit> commits;
  std::unordered_map<std::string, size_t> places;
  for (const Row& row : rows) {
    RangeCommit commit{row[0], row[2], first_word(row[1]), {}};
    for (const std::string& parent : split(row[1], ' ')) {
      const auto place = places.find(parent);
      if (place != places.end()) commit.parents.push_back(place->second);
    }
    places[commit.hash] = commits.size();
    commits.push_back(std::move(commit));
  }
  return commits;
}

}  // namespace

CommitRange find_range(const RangeRequest& request, const GitProgram& git) {
  CommitRange range;
  range.good = existing_commit(request, "good", request.good, git);
  range.bad = existing_commit(request, "bad", request.bad, git);
  if (range.good == range.bad) {
    throw usage_error(fmt::format("--good {} and --bad {} are the same commit, {}", request.good, request.bad,
                                  range.good.substr(0, kShownDigits)));
  }
  if (!leads_to(range.good, range.bad, git)) refuse_order(request, range, git);
  std::vector<std::string> limits{"--parents"}, paths;
  if (request.first_parent) limits.emplace_back("--first-parent");
  if (!request.path.empty()) paths.push_back(":(top,literal)" + request.path);
  range.commits = range_commits(list_commits(range, limits, paths, git));
  if (range.commits.empty()) {
    throw usage_error(fmt::format("--path {}: no commit after {} up to {} changed it", request.path,
                                  shown(request.good, range.good), shown(request.bad, range.bad)));
  }
  if (!request.path.empty()) {
    set_first_parents(range, git);
    range.bad = range.commits.back().hash;
  }
  return range;
}

}  // namespace flopmark
