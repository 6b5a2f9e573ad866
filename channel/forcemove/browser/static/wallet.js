// Hands what is to be signed to the browser's wallet (EIP-1193, found as EIP-6963 says), and tells the process its hash.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id), asked = new Set(); // a page may come in place of another
  let announced;
  addEventListener("eip6963:announceProvider", (event) => { announced ||= event.detail.provider; });
  dispatchEvent(new Event("eip6963:requestProvider"));

  window.wallet = () => window.ethereum || announced;
  const tell = (text) => { byId("told").textContent = text; };
  const post = (path, fields) => {
    const body = new URLSearchParams({ token: byId("wallet").dataset.token, ...fields });
    return fetch(path, { method: "POST", body, headers: { "X-Live": "1" } }).catch(() => ({ ok: false }));
  };

  const sign = async (wallet, { request, to, data, value }) => {
    const { account, chain } = byId("wallet").dataset;
    const [shown] = await wallet.request({ method: "eth_requestAccounts" });
    if (shown?.toLowerCase() !== account) return tell(`The wallet shows another account, ${shown}: choose ${account} there.`);
    const on = await wallet.request({ method: "eth_chainId" });
    if (Number(on) !== Number(chain)) return tell(`The wallet is on another chain, ${Number(on)}: choose chain ${chain} there.`);
    const call = { from: account, to, data, value, chainId: `0x${Number(chain).toString(16)}` };
    const hash = await wallet.request({ method: "eth_sendTransaction", params: [call] });
    const answer = await post("/wallet/sent", { request, hash });
    if (answer.status === 409) tell("The transaction was sent, but it was no longer needed.");
    else if (!answer.ok) tell(`The wallet has sent it as ${hash}, and this page could not say so to its program: do not sign it again.`);
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-request], #ask-wallet");
    const wallet = window.wallet(), { request } = button?.dataset ?? {};
    if (!button || asked.has(request)) return;
    tell("");
    if (!wallet) return tell("There is no wallet in this browser. Install one, and load this page again.");
    if (!request) {
      const asking = wallet.request({ method: "eth_requestAccounts" });
      return asking.then(([account]) => { byId("account").value = account; }, () => tell("The wallet has named no account."));
    }
    asked.add(request);
    button.disabled = true;
    try {
      await sign(wallet, button.dataset);
    } catch (error) {
      if (error?.code === 4001) await post("/wallet/refused", { request });
      else tell(`The wallet has not sent it: ${error?.message || error}`);
    } finally {
      asked.delete(request);
      button.disabled = false;
    }
  });
})();
