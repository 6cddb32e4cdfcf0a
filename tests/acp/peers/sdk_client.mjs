// A client made of the TypeScript SDK: `node sdk_client.mjs FOLDER AGENT...` prints what it was told, as JSON lines; sdk_client.py is its twin.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { PROTOCOL_VERSION, client, methods, ndJsonStream } from "@agentclientprotocol/sdk";

const [folder, command, ...options] = process.argv.slice(2);
const told = (what, value) => console.log(JSON.stringify([what, value]));

// Runs `work` with an agent of its own; what the agent asks is answered by `decide`.
async function withAgent(decide, work) {
  const agent = spawn(command, options, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(agent, "exit");
  const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
  const app = client({ name: "typescript-sdk" })
    .onNotification(methods.client.session.update, ({ params }) => told("update", params.update))
    .onRequest(methods.client.session.requestPermission, async ({ params, agent }) => {
      told("question", params);
      return { outcome: await decide(params, agent) };
    });
  await app.connectWith(stream, async (connection) => {
    const { protocolVersion } = await connection.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: {},
    });
    told("initialized", protocolVersion);
    await work(connection);
  });
  agent.stdin.end();
  told("ended", (await ended)[0]);
}

const allow = { outcome: "selected", optionId: "allow" };
const outcomes = [
  async () => allow,
  async ({ sessionId }, agent) => {
    await agent.notify(methods.agent.session.cancel, { sessionId });
    return { outcome: "cancelled" };
  },
];

let sessionId;
await withAgent(
  (params, agent) => outcomes.shift()(params, agent),
  async (connection) => {
    ({ sessionId } = await connection.request(methods.agent.session.new, { cwd: folder, mcpServers: [] }));
    for (const text of ["go", "on"]) {
      const prompt = [{ type: "text", text }];
      told("stopped", (await connection.request(methods.agent.session.prompt, { sessionId, prompt })).stopReason);
    }
  },
);
await withAgent(
  () => ({ outcome: "cancelled" }),
  async (connection) => {
    await connection.request(methods.agent.session.load, { sessionId, cwd: folder, mcpServers: [] });
    told("loaded", sessionId);
  },
);
