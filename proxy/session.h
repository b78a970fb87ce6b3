// One client connection from its first request to its last.
#pragma once

#include <boost/intrusive/list.hpp>

#include "proxy/client_connection.h"
#include "proxy/message_reader.h"
#include "proxy/transaction.h"

namespace proxy {

/// Reads requests one after the other and answers each before it reads the next, so pipelined
/// requests are answered in order. Single-threaded. Linked into the server's list while it exists.
class Session : public boost::intrusive::list_base_hook<
                    boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  Session(Services& services, Socket socket);

  /// Serves until the connection is over.
  boost::asio::awaitable<void> run();
  /// Ends it if it waits for a request or for the client to go; else it ends after the answer that
  /// is under way.
  void stop_if_idle();
  /// Ends it now.
  void abort() { client_.give_up(); }

 private:
  boost::asio::awaitable<bool> serve_request();
  boost::asio::awaitable<void> answer_bad_head(boost::system::error_code error);

  Services& services_;
  ClientConnection client_;
  RequestReader reader_;
  bool waiting_ = false;  ///< For a request.
  bool first_request_ = true;
  bool linger_ = false;     ///< The client may still be sending what will not be read.
  bool lingering_ = false;  ///< Only that is still going on.
};

}  // namespace proxy
