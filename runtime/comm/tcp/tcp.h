// Shared by the files of the transport of TCP: ranks find each other at an address that all know,
// rank 0's, where each of them tells its own; then they connect in pairs, as they first talk.
#ifndef SHARDCC_RT_TCP_H
#define SHARDCC_RT_TCP_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "runtime/comm/transport.h"

// ---- addresses: address.c ----

typedef struct RtAddress {
    struct sockaddr_storage at;
    socklen_t n;  // bytes of it
} RtAddress;

// A name in the abstract namespace of Unix sockets (unix(7)), which only this host knows. Empty:
// one that nobody has, once it is listened at.
RtAddress rt_address_of_name(const char *name);
// The addresses of a host, at most `capacity`. Returns how many; 0: none, and sets *why.
int rt_address_find(const char *host, int port, RtAddress *to, int capacity, const char **why);
// The first address of that interface of the given family, port 0. Returns false after a message
// that names the interfaces.
bool rt_address_of_interface(const RtModel *m, const char *name, int family, RtAddress *to);
// The same address family and port on all interfaces.
RtAddress rt_address_any(const RtAddress *x);
bool rt_address_is_local(const RtAddress *x);  // a name or of the loopback interface
// Is it an address of a family that we know, and of the right size?
bool rt_address_is_valid(const RtAddress *x);
void rt_address_set_port(RtAddress *x, int port);
int rt_address_port(const RtAddress *x);
// "eth0 10.0.0.1", with "?" for an interface that isn't found; "" for a name
void rt_address_print_interface(const RtAddress *x, char *to, size_t capacity);
// "10.0.0.1:29500"
void rt_address_print(const RtAddress *x, char *to, size_t capacity);

// All sockets close on exec and don't block. Returns a socket; -1 with errno.
int rt_listen(const RtAddress *at);
int rt_connect(const RtAddress *to);  // may go on connecting
int rt_accept(int listener);          // -1: nobody has come
RtAddress rt_own_address(int fd);
RtAddress rt_other_address(int fd);

// ---- where the rendezvous is: job.c ----

typedef struct RtTcpJob {
    int rank, ranks;
    bool is_local;      // all ranks are on this host, and the rendezvous is a name
    char name[256];     // that name, or the host
    int port, n_ports;  // the first of so many ports that rank 0 can have
    uint64_t number;    // of the job, which others that happen to be there don't have
} RtTcpJob;

// Finds this rank's number and where the rendezvous is: from the options, else from the first
// complete set of a launcher's variables. Returns false after a message. ranks 1: there is no
// launcher.
bool rt_tcp_job(const RtModel *m, const RtJob *job, RtTcpJob *to);

// ---- the handshake of a connection: handshake.c ----

// A rank tells this of itself.
typedef struct RtTcpPeer {
    RtAddress listener;
    uint64_t boot;  // rt_boot_number
    int64_t pid_namespace, net_namespace, process;
    int32_t window;  // its file of the shared window, in that process
} RtTcpPeer;

// Is that process on this host, so that its window can be shared?
bool rt_tcp_is_near(const RtTcpPeer *a, const RtTcpPeer *b);

typedef enum RtCallKind {
    RT_JOIN,  // to rank 0, at the start
    RT_LINK,  // for messages of tag 0, and + 1 of tag 1
    RT_WARN = RT_LINK + 2,
    RT_END,
    RT_N_CALL_KINDS
} RtCallKind;

#define RT_HANDSHAKE_SECONDS 2.0  // for the first words of a connection
enum { RT_NONCE_BYTES = 32, RT_MAC_BYTES = 32, RT_MIN_SECRET_BYTES = 16 };

// Both ends run the same program on the same kind of machine, so structs travel as they are. Every
// message has a fixed length; nothing of it is allocated.
typedef struct RtGreeting {
    char magic[8];
    uint64_t job;
    uint8_t nonce[RT_NONCE_BYTES];
} RtGreeting;

typedef struct RtHello {
    char magic[8];
    int32_t kind, rank, ranks;
    int32_t has_secret;
    uint64_t key;  // of a join: the program's; else the job's, which rank 0 draws
    uint8_t nonce[RT_NONCE_BYTES];
    union {
        RtTcpPeer self;     // of a join
        RtWarning warning;  // of a warning
    };
    uint8_t mac[RT_MAC_BYTES];  // of the greeting's nonce and all before it
} RtHello;

typedef enum RtAnswerKind { RT_WELCOME, RT_JOB_ENDS } RtAnswerKind;

typedef struct RtAnswer {
    char magic[8];
    int64_t kind;
    uint8_t mac[RT_MAC_BYTES];  // of the hello's nonce and all before it
} RtAnswer;

// SHARDCC_SECRET; bytes 0: there is none.
typedef struct RtSecret {
    const char *text;
    size_t bytes;
} RtSecret;

typedef enum RtHandshakeState {
    RT_HANDSHAKE_BROKE = -1,
    RT_HANDSHAKE_GOES_ON,
    RT_HANDSHAKE_ENDED
} RtHandshakeState;

// A connection that begins: the one who accepted greets, the caller says hello, and is answered.
typedef struct RtHandshake {
    int fd;  // -1: none
    bool is_caller;
    int words;  // messages that were sent and received
    double deadline;
    const RtSecret *secret;
    uint64_t job;  // RtTcp.number
    size_t done;   // bytes of the current message
    RtGreeting greeting;
    RtHello hello;
    RtAnswer answer;
} RtHandshake;

RtHandshake rt_handshake_accept(int fd, uint64_t job, const RtSecret *secret, double deadline);
RtHandshake rt_handshake_call(int fd, uint64_t job, const RtSecret *secret, const RtHello *hello,
                              double deadline);
// Goes on as far as it can without waiting. Ended: the caller has the answer, the other one the
// hello, which rt_handshake_answer is to answer. Broken: closed, foreign, or past its deadline; or
// the caller's answer has the wrong code.
RtHandshakeState rt_handshake_step(RtHandshake *t);
// Does the hello know the secret? Without one on both sides, yes.
bool rt_handshake_is_trusted(const RtHandshake *t);
// Sends the answer, for which a new connection's buffer has space. Returns false if it broke.
bool rt_handshake_answer(RtHandshake *t, RtAnswerKind kind);
// The magic of a hello, and a new nonce.
RtHello rt_hello(RtCallKind kind, int rank, int ranks, uint64_t key);
void rt_handshake_close(RtHandshake *t);
void rt_draw_bytes(void *to, size_t n);  // at random

// ---- the start: join.c, lead.c, windows.c ----

typedef struct RtTcp RtTcp;

// Finds the other ranks: sets the peers, the job's key, and the windows. Returns false after a
// message of one of the ranks.
bool rt_tcp_rendezvous(RtComm *c, RtTcp *s, const RtTcpJob *job);

// Makes this rank's shared window: a file without a name, which `self` tells the other ranks.
bool rt_tcp_window_open(RtComm *c, RtTcpPeer *self);
// Maps those of the other ranks of this host, as long as they have them open.
void rt_tcp_windows_share(RtComm *c, const RtTcpPeer *peer);
void rt_tcp_windows_close(RtComm *c);

// ---- messages: link.c ----

// A queue of messages, by number; -1: none.
typedef struct RtQueue {
    int first, last;
} RtQueue;

// The connection to a rank, for one tag.
typedef struct RtLink {
    int fd;  // -1: not yet
    bool is_broken, is_listed;
    RtHandshake *call;  // this rank's call that is to become the link; NULL: none
    double next_call;   // the time of the next one
    RtQueue sends, receives;
} RtLink;

typedef struct RtMessage {
    char *data;
    int64_t bytes, done;  // done: with the header, which is `bytes`
    int64_t header;
    int link, next;
    bool is_taken, is_done;
} RtMessage;

enum { RT_MAX_INCOMING = 64 };  // connections that may begin at one time

struct RtTcp {
    int rank, ranks;
    RtSecret secret;
    uint64_t number, key;  // of the job: RtTcpJob.number; what rank 0 drew
    int listener;
    RtTcpPeer *peer;  // by rank
    RtLink *link;     // of rank r and tag t: 2 r + t
    int *listed;      // links that have something to do
    int n_listed;
    RtMessage *message;
    int n_messages, last;  // last: the number that was returned last
    RtHandshake incoming[RT_MAX_INCOMING];
    RtHandshake *outgoing;  // by rank: a warning or the end
    RtWarning *warning;     // by rank, from it; peer -1: none that wasn't returned yet
    int64_t polls;
    bool is_ended;  // another rank has ended the job
    pthread_mutex_t lock;
};

// Accepts incoming connections. If there are too many, the oldest one is closed.
void rt_link_accept(RtTcp *s);
// Goes on with the incoming handshakes from number *i, from 0. Returns the next one whose hello has
// come, which the caller closes; NULL: there are no more. Broken ones are closed.
RtHandshake *rt_link_next_hello(RtTcp *s, int *i);

// All below are called with the lock held.
int rt_link_post(RtTcp *s, int peer, int tag, char *data, int64_t bytes, bool is_send);
// Goes on with all messages and connections as far as it can without waiting.
void rt_link_progress(RtTcp *s);
// Looks at who has come and what they say, and goes on with calls.
void rt_link_look(RtTcp *s);
// Calls all other ranks with that hello; rt_link_look goes on.
void rt_link_tell(RtTcp *s, const RtHello *hello);
bool rt_link_is_telling(const RtTcp *s);  // still

#endif
