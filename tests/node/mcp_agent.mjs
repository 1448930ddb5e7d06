// What the TypeScript SDK's client sees of a server for agents, started by a command or at an address, as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const given = JSON.parse(process.argv[2]);
const headers = { Authorization: `Bearer ${given.token}` };
const transport = given.url
  ? new StreamableHTTPClientTransport(new URL(given.url), { requestInit: { headers } })
  : new StdioClientTransport({ command: given.command[0], args: given.command.slice(1), env: given.env });
const client = new Client({ name: "test", version: "1" });
await client.connect(transport);
const seen = {
  instructions: client.getInstructions(),
  tools: (await client.listTools()).tools,
  prompts: (await client.listPrompts()).prompts,
  prompt: await client.getPrompt({ name: "explain_move", arguments: { signal: "us-cpi" } }),
  catalogue: (await client.readResource({ uri: "dataservice://catalogue" })).contents[0].text,
  calls: [],
};
for (const call of given.calls) seen.calls.push(await client.callTool(call)); // throws where a schema is not kept
await client.close();
console.log(JSON.stringify(seen));
