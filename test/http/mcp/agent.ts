import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { ADMIN_KEY, type RunningService } from '../../support/servers/service.ts'

/** An agent that is connected to a service. */
export interface Agent {
  readonly client: Client
  /** Calls a tool and answers what it said. */
  call(name: string, args?: object): Promise<Said>
  close(): Promise<void>
}

/** The result of a tool. Tests look into it freely. */
export interface Said {
  readonly text: string
  readonly data: any
  readonly isError: boolean
}

/** Connects the SDK's client to `/mcp`. */
export async function connectAgent(
  { url }: Pick<RunningService, 'url'>,
  { tools = '', key = ADMIN_KEY, mode }: { tools?: string; key?: string; mode?: VersionNegotiationMode } = {},
): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1' }, mode ? { versionNegotiation: { mode } } : {})
  const address = new URL(`${url}/mcp${tools && `?tools=${tools}`}`)
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit }))
  return agentOf(client)
}

/** An agent over a connected client. */
export function agentOf(client: Client): Agent {
  return {
    client,
    call: async (name, args = {}) => {
      const {
        content,
        structuredContent,
        isError = false,
      } = await client.callTool({
        name,
        arguments: { ...args },
      })
      const [first] = content
      return {
        text: first?.type === 'text' ? first.text : '',
        data: structuredContent,
        isError: isError === true,
      }
    },
    close: () => client.close(),
  }
}

/** The parameters of a prompt with a variable. */
export function promptOf(system: string): object {
  return {
    prompt: {
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: '{{question}}' },
      ],
      llm_config: { model: 'mock/examples' },
      template_format: 'curly',
    },
  }
}

/** Makes a prompt; its first version has this system message. */
export async function makePrompt(service: RunningService, slug: string, system: string): Promise<void> {
  const data = { uri: 'svc:builtin:completion:v0', parameters: promptOf(system) }
  const { status, text } = await service.post('/simple/applications/', { application: { slug, data } })
  if (status !== 200) throw new Error(text)
}

/** The secret of a new key with these scopes. */
export async function keyWith(service: RunningService, ...scopes: string[]): Promise<string> {
  return (await service.post('/keys/', { key: { name: scopes.join('-'), scopes } })).body.key.secret
}
