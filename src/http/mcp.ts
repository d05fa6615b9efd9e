export { loadServer } from './mcp/mcp-route.ts'
export type { SendRequest } from './mcp/rest.ts'
export { readGroup } from './mcp/tool-groups.ts'
