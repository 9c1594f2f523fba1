// legacy-client.mjs - the REAL TypeScript SDK 1.x client (npm @modelcontextprotocol/sdk) speaking 2025-11-25 tasks.
// The command line and the verdicts are those of driver.mjs.
import { drive } from './driver.mjs';
import { flows as taskFlows } from './legacy-flows.mjs';
import { connect, SDK } from './legacy-session.mjs';
import { flows as questionFlows } from './question-flows.mjs';

await drive({ client: SDK, file: 'ts-sdk-client', flows: { ...taskFlows, ...questionFlows }, open: connect });
