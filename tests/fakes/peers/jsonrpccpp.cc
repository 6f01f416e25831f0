// SPDX-License-Identifier: MIT
// jsonrpccpp SOCKET, see test_peers.py
#include <iostream>
#include <jsonrpccpp/client.h>
#include <jsonrpccpp/client/connectors/unixdomainsocketclient.h>

int main(int argc, char **argv)
{
	jsonrpc::UnixDomainSocketClient connector(argv[argc - 1]);
	jsonrpc::Client peer(connector);
	Json::Value one, ids, other;

	one["id"] = 1;
	ids[0u][0u] = 1;
	other["id"] = 99;
	std::cout << peer.CallMethod("daemon.status", Json::Value())["state"].asString() << "\n";
	std::cout << peer.CallMethod("run.get", one)["id"] << "\n";
	std::cout << peer.CallMethod("run.wait", ids)["timed_out"] << "\n";
	try {
		peer.CallMethod("run.get", other);
	} catch (jsonrpc::JsonRpcException &error) {
		std::cout << error.GetCode() << "\n";
	}
	return 0;
}
