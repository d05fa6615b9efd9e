import {
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type Tool as ListedTool,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import { type JsonObject, stringifyJson } from '../../base/json.ts'
import { packageVersion } from '../public-routes/service-record.ts'
import { fillPrompt, listPrompts, listResources, readResource, RESOURCE_TEMPLATES } from './named-prompts.ts'
import { Rest, RestFailure, type SendRequest } from './rest.ts'
import { TOOL_GROUPS, type ToolGroup } from './tool-groups.ts'
import { authorTools } from './tools/author-tools.ts'
import { deployTools } from './tools/deploy-tools.ts'
import { readTools } from './tools/read-tools.ts'
import type { Tool } from './tools/tool.ts'

/** Every tool, in the order in which agents see them. */
const TOOLS = [...readTools, ...authorTools, ...deployTools]

/** How one MCP server works. */
export interface McpOptions {
  /** The tools it has: those of this group and of the groups before it. */
  readonly group: ToolGroup
  /** How clients choose a group, for the error that tells them to: `?tools=author`. */
  readonly choice: (group: ToolGroup) => string
  /** Whether it says when its lists change. */
  readonly tellsChanges: boolean
}

const INSTRUCTIONS =
  'A registry of prompts, evaluators and testsets with versions. A prompt is named by its slug; its versions count up in a variant (a branch), ' +
  'and environments such as production each run one version. Find names with prompts_search. Answers are short: ask for more with ' +
  '`fields`, and for the next page with `next`.'

/** An MCP server over the REST interface (interface 17): each tool, prompt and resource is made of requests that `send` sends. */
export function createServer(send: SendRequest, { group, choice, tellsChanges }: McpOptions): Server {
  const listChanged = tellsChanges ? { listChanged: true } : {}
  const server = new Server(
    { name: 'branchpoint', title: 'Branchpoint', version: packageVersion() },
    { capabilities: { tools: {}, prompts: listChanged, resources: listChanged }, instructions: INSTRUCTIONS },
  )
  const tools = new Map(TOOLS.filter((it) => isWithin(it, group)).map((it) => [it.name, it]))

  server.setRequestHandler('tools/list', () => ({ tools: [...tools.values()].map(presentTool) }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    const tool = tools.get(params.name)
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, whyNoTool(params.name, choice))
    return callTool(tool, params.arguments ?? {}, new Rest(send, signal))
  })
  server.setRequestHandler('prompts/list', ({ params }, { mcpReq: { signal } }) =>
    orProtocolError(listPrompts(new Rest(send, signal), params?.cursor)),
  )
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq: { signal } }) =>
    orProtocolError(fillPrompt(new Rest(send, signal), params.name, params.arguments ?? {})),
  )
  server.setRequestHandler('resources/list', ({ params }, { mcpReq: { signal } }) =>
    orProtocolError(listResources(new Rest(send, signal), params?.cursor)),
  )
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: RESOURCE_TEMPLATES }))
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq: { signal } }) => {
    const text = await orProtocolError(readResource(new Rest(send, signal), uri))
    if (text === undefined) throw new ResourceNotFoundError(uri)
    return { contents: [{ uri, mimeType: 'application/json', text }] }
  })
  return server
}

/** Answers one message of a client over HTTP, which begins and ends with it: no session is kept. */
export function answerMessage(
  request: Request,
  message: unknown,
  send: SendRequest,
  options: Omit<McpOptions, 'tellsChanges'>,
): Promise<Response> {
  const server = (): Server => createServer(send, { ...options, tellsChanges: false })
  return createMcpHandler(server, { maxSubscriptions: 0 }).fetch(request, { parsedBody: message })
}

function isWithin(tool: Pick<Tool, 'group'>, group: ToolGroup): boolean {
  return TOOL_GROUPS.indexOf(tool.group) <= TOOL_GROUPS.indexOf(group)
}

function whyNoTool(name: string, choice: McpOptions['choice']): string {
  const other = TOOLS.find((tool) => tool.name === name)
  if (other)
    return `${name} is a tool of the group ${other.group}: connect with ${choice(other.group)} to use it.`
  return `There is no tool ${JSON.stringify(name.slice(0, 100))}. tools/list lists those that there are.`
}

function presentTool({ name, title, description, input, effect, group }: Tool): ListedTool {
  return {
    name,
    title,
    description,
    // Every input is an object.
    inputSchema: z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as ListedTool['inputSchema'],
    annotations: {
      title,
      readOnlyHint: group === 'read',
      destructiveHint: effect === 'replaces',
      idempotentHint: group === 'read' || name === 'prompts_deploy',
      openWorldHint: effect === 'runs',
    },
  }
}

// A type, because what MCP calls a result may have more members; an interface would not be taken for one.
type ToolResult = {
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent: Record<string, unknown>
  readonly isError?: true
}

/** The result of a tool. What it refuses is a result, too, so that a model reads what to do next. */
async function callTool({ input, run }: Tool, sent: unknown, rest: Rest): Promise<ToolResult> {
  const read = input.safeParse(sent)
  if (!read.success)
    return failed('invalid_request', read.error.issues.slice(0, 20).map(problemIn).join('; '))
  try {
    return resultOf(await run(read.data as never, rest)) // parsed by the tool's own schema
  } catch (error) {
    if (error instanceof RestFailure) return failed(error.code, error.message, error.answer)
    if (error instanceof Refusal) return failed(error.code, error.message)
    throw error
  }
}

/** The text has every digit of every number; `structuredContent` has what a double holds (interface 17.4). */
function resultOf(answer: JsonObject): ToolResult {
  const text = stringifyJson(answer)
  return {
    content: [{ type: 'text', text }],
    structuredContent: JSON.parse(text) as Record<string, unknown>, // written from an object
  }
}

function failed(code: string, message: string, answer: JsonObject = {}): ToolResult {
  const { structuredContent } = resultOf(answer)
  return {
    content: [{ type: 'text', text: message }],
    structuredContent: { ...structuredContent, code, message },
    isError: true,
  }
}

function problemIn(issue: z.core.$ZodIssue): string {
  const place = issue.path.join('.')
  if (issue.code === 'unrecognized_keys')
    return `${[place, ...issue.keys].filter(Boolean).join(', ')}: there is no such argument; leave it out`
  const message = issue.message
    .replace(/^Invalid input: /, '')
    .replace(/, received undefined$/, ', and nothing was sent')
  return `${place || 'arguments'}: ${message}`
}

/** Prompts and resources have no results for errors: these are errors of the protocol, with the same sentences. */
async function orProtocolError<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof RestFailure) && !(error instanceof Refusal)) throw error
    const code = error instanceof RestFailure && error.status >= 500 ? 'InternalError' : 'InvalidParams'
    throw new ProtocolError(ProtocolErrorCode[code], error.message, { code: error.code })
  }
}
