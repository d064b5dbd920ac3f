//! Ports for programs that cannot choose one themselves and say which.
//!
//! A port that was free a moment ago may be anybody's when the program gets to it, an outgoing connection's too. So it
//! stays bound here, shareable and without listening, and the program shares it (`SO_REUSEPORT`).

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use socket2::{Domain, Socket, Type};

/// A port on 127.0.0.1 that only programs of this user that share ports can take, as long as this value lives.
#[derive(Debug)]
pub(crate) struct Held {
    number: u16,
    _socket: Socket,
}

impl Held {
    pub(crate) fn take() -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.set_reuse_port(true)?;
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
        let address = socket.local_addr()?.as_socket();
        let address = address.ok_or_else(|| io::Error::other("the socket has no address"))?;
        Ok(Self {
            number: address.port(),
            _socket: socket,
        })
    }

    pub(crate) fn number(&self) -> u16 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_held_port_is_only_for_who_shares_it() {
        let held = Held::take().unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, held.number()));
        let refused = TcpListener::bind(address).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);

        let sharing = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        sharing.set_reuse_port(true).unwrap();
        sharing.bind(&address.into()).unwrap();
        sharing.listen(1).unwrap();
        std::net::TcpStream::connect(address).unwrap();
    }
}
