// Has typed data signed by a node with eth_signTypedData_v4, and by viem with the same key. Reads { rpc, address, privateKey,
// typedData: [...] } from stdin, prints [{ node, viem }, ...], 65 bytes each.
import { readFileSync } from "node:fs";

import { privateKeyToAccount, viem } from "./packages.mjs";

const { rpc, address, privateKey, typedData } = JSON.parse(readFileSync(0, "utf8"));
const wallet = viem.createWalletClient({ account: address, transport: viem.http(rpc) });
const account = privateKeyToAccount(privateKey);

const signed = [];
for (const given of typedData) {
  const byNode = await wallet.request({ method: "eth_signTypedData_v4", params: [address, JSON.stringify(given)] });
  const { EIP712Domain: _, ...types } = given.types;
  const domain = { ...given.domain, chainId: BigInt(given.domain.chainId) };
  signed.push({ node: byNode, viem: await account.signTypedData({ ...given, types, domain }) });
}
console.log(JSON.stringify(signed));
