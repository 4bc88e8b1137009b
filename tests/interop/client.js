// SPDX-License-Identifier: Apache-2.0

// A gRPC client of our server (server.c) on grpc-js: `node client.js FOLDER` plays every check and ends with `N passed, N failed`.
"use strict";

const assert = require("node:assert");
const grpc = require("@grpc/grpc-js");
const { version } = require("@grpc/grpc-js/package.json");

const folder = process.argv[2];
const fourMiB = 4 << 20;
const patience = 20000;

const pass = (value) => value;
const method = (path, responseStream = false) => ({
  path, requestStream: false, responseStream,
  requestSerialize: pass, requestDeserialize: pass, responseSerialize: pass, responseDeserialize: pass,
});
const wireMethods = Object.fromEntries(["Echo", "Large", "Wait", "Counters", "Refuse", "Nothing"].map(
  (name) => [name, method(`/tangram.test.Wire/${name}`)]));
wireMethods.Stream = method("/tangram.test.Wire/Stream", true);
const Wire = grpc.makeGenericClientConstructor(wireMethods, "Wire");
const wideOptions = { "grpc.max_receive_message_length": 2 * fourMiB, "grpc.max_send_message_length": 2 * fourMiB };
const connect = (options = {}) => new Wire(`unix:${folder}/test.sock`, grpc.credentials.createInsecure(), { ...wideOptions, ...options });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function start(client, name, request = "", timeout = patience) {
  let handle;
  const answer = new Promise((resolve, reject) => {
    handle = client[name](Buffer.from(request), { deadline: Date.now() + timeout }, (error, value) => (error ? reject(error) : resolve(value)));
  });
  return { handle, answer };
}
const call = (...args) => start(...args).answer;

async function codeOf(promise) {
  try {
    await promise;
    return { code: grpc.status.OK, details: "" };
  } catch (error) {
    return error;
  }
}

async function counters(client) {
  return (await call(client, "Counters")).toString().split(" ").map(Number);
}

async function until(done) {
  const end = Date.now() + patience;
  while (!(await done())) {
    assert(Date.now() < end, "it did not happen");
    await sleep(5);
  }
}

// The states of a stream; with a pause nothing is read before it is over.
function states(client, count, pause = 0) {
  return new Promise((resolve, reject) => {
    const out = [];
    const stream = client.Stream(Buffer.from(String(count)), { deadline: Date.now() + patience });
    stream.on("error", reject);
    stream.on("end", () => resolve(out));
    setTimeout(() => stream.on("data", (state) => out.push(state.toString())), pause);
  });
}

function checkStates(all) {
  assert.strictEqual(all.at(-1), "end", "the last state is missing");
  for (let i = 1; i < all.length - 1; i++) assert(all[i] > all[i - 1], "a state that is not newer than the one before");
}

const checks = {
  async unary(client) {
    for (const size of [0, 1, 100000]) assert.strictEqual((await call(client, "Echo", "x".repeat(size))).length, size);
  },
  async statusText(client) {
    const { code, details } = await codeOf(call(client, "Refuse"));
    assert.strictEqual(code, grpc.status.FAILED_PRECONDITION);
    assert.strictEqual(details, 'no: 100 % \u00fc\n"quoted"');
  },
  async unknownMethod(client) {
    assert.strictEqual((await codeOf(call(client, "Nothing"))).code, grpc.status.UNIMPLEMENTED);
  },
  async serverStream(client) {
    for (const count of [0, 1, 1000]) checkStates(await states(client, count));
  },
  async slowReader(client) {
    const all = await states(client, 100000, 1000);
    assert(all.length < 1000, `${all.length} states were kept for a client that does not read`);
    checkStates(all);
  },
  async cancel(client) {
    const [waiting, cancelled] = await counters(client);
    const { handle, answer } = start(client, "Wait");
    await until(async () => (await counters(client))[0] > waiting);
    handle.cancel();
    assert.strictEqual((await codeOf(answer)).code, grpc.status.CANCELLED);
    await until(async () => (await counters(client))[1] > cancelled);
  },
  async deadline(client) {
    const [, cancelled] = await counters(client);
    assert.strictEqual((await codeOf(call(client, "Wait", "", 100))).code, grpc.status.DEADLINE_EXCEEDED);
    await until(async () => (await counters(client))[1] > cancelled);
  },
  async largeMessages(client) {
    const text = "z".repeat(fourMiB);
    assert.strictEqual((await call(client, "Echo", text)).length, fourMiB);
    assert.strictEqual((await codeOf(call(client, "Echo", text + "z"))).code, grpc.status.RESOURCE_EXHAUSTED);
    assert.strictEqual((await codeOf(call(client, "Large", String(fourMiB + 1)))).code, grpc.status.RESOURCE_EXHAUSTED);
  },
  async keepalive() {
    const client = connect({ "grpc.keepalive_time_ms": 50, "grpc.keepalive_timeout_ms": 2000, "grpc.keepalive_permit_without_calls": 1, "grpc.use_local_subchannel_pool": 1 });
    await call(client, "Echo", "a");
    await sleep(1500);
    assert.strictEqual(client.getChannel().getConnectivityState(false), grpc.connectivityState.READY);
    await call(client, "Echo", "b");
    client.close();
  },
  async connections(client) {
    for (let i = 0; i < 200; i++) {
      const one = connect({ "grpc.use_local_subchannel_pool": 1 });
      await call(one, "Echo", "hello");
      one.close();
    }
    await call(client, "Echo", "still there");
  },
};

async function main() {
  const client = connect();
  let passed = 0, failed = 0;
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check(client);
      passed++;
    } catch (error) {
      failed++;
      console.log(`FAILED ${name}: ${error}`);
    }
  }
  client.close();
  console.log(`grpc-js ${version}: ${passed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}

main();
