import { readConfig } from '../../src/config.ts'
import { openLogger } from '../../src/http/logger.ts'
import { start } from '../../src/server/start.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'

/** As much of an OpenAPI document as what is made of it needs. */
export interface OpenApiDocument {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components?: {
    readonly schemas?: Readonly<Record<string, unknown>>
    readonly parameters?: Readonly<Record<string, Parameter>>
    readonly responses?: Readonly<Record<string, Content>>
  }
}

export interface Operation {
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly description?: string
  /** An empty list means that no key is needed. */
  readonly security?: readonly { readonly ApiKey?: readonly string[] }[]
  readonly parameters?: readonly (Parameter | Ref)[]
  readonly requestBody?: Content & { readonly required?: boolean }
  readonly responses?: Readonly<Record<string, Content | Ref>>
}

export interface Ref {
  readonly $ref: string
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema?: unknown
}

export interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: unknown }>>
}

/** Of the server that tells what it answers. */
export const DOCS_CONFIG = readConfig({
  PORT: '0',
  STORE_DIR: ':memory:',
  SVC_API_KEY: 'docs',
  LOG_LEVEL: 'silent',
})

let document: Promise<OpenApiDocument> | undefined

/** What a server in memory, which is stopped again, says of its endpoints in /openapi.json. */
export function openApiDocument(): Promise<OpenApiDocument> {
  document ??= askServer()
  return document
}

async function askServer(): Promise<OpenApiDocument> {
  const log = openLogger(DOCS_CONFIG.logLevel)
  const { server, close } = await start({ config: DOCS_CONFIG, fs: nodeFs, log, now: () => new Date() })
  try {
    const answer = await fetch(`${server.url}/openapi.json`)
    return (await answer.json()) as OpenApiDocument // what the service writes there
  } finally {
    await server.stop(1000)
    await close()
  }
}
