import { getKey, getPath, isJsonArray, type Json, type JsonObject, stringifyJson } from '../../base/json.ts'
import { Refusal } from '../../errors.ts'
import {
  promptVariables,
  readPrompt,
  renderMessages,
  TemplateFailure,
  variableNames,
} from '../../run/templates.ts'
import type { Rest } from './rest.ts'
import { given } from './short-record.ts'
import { retrieve } from './tools/tool.ts'

/** A prompt or resource list's page. */
const PAGE = 50

/** A prompt as MCP lists it; its arguments are its variables. */
export interface ListedPrompt {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly arguments: { readonly name: string; readonly required: boolean }[]
}

/** Lists the prompts of the project by name, a page at a time (interface 17.6): those applications that have messages. */
export async function listPrompts(
  rest: Rest,
  cursor: string | undefined,
): Promise<{ readonly prompts: ListedPrompt[]; readonly nextCursor?: string }> {
  const windowing = given({ limit: PAGE, order: 'name', next: cursor })
  const answer = await rest.post('/simple/applications/query', { windowing })
  const listed = getKey(answer, 'applications')
  const prompts = (isJsonArray(listed) ? listed : []).flatMap((application) => {
    const prompt = promptIn(application)
    return prompt ? [presentPrompt(application, prompt)] : []
  })
  const next = getPath(answer, 'windowing', 'next')
  return { prompts, ...(typeof next === 'string' ? { nextCursor: next } : {}) }
}

type Prompt = ReturnType<typeof readPrompt>

function promptIn(record: Json): Prompt | undefined {
  const written = getPath(record, 'data', 'parameters', 'prompt')
  if (written === undefined) return undefined
  try {
    return readPrompt(written)
  } catch {
    // A prompt that cannot be read cannot be run either; a commit of it was warned of.
    return undefined
  }
}

function presentPrompt(application: Json, { messages, templateFormat, inputKeys }: Prompt): ListedPrompt {
  const text = (key: string): string | undefined => {
    const value = getPath(application, key)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const [title, description] = [text('name'), text('description')]
  const variables = variableNames(messages.flatMap(textsIn), templateFormat)
  // In the other two formats, what is absent is empty, or has a default.
  const isNeeded = templateFormat === 'curly' || templateFormat === 'fstring'
  return {
    name: text('slug') ?? '',
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    arguments: [...new Set([...variables, ...(inputKeys ?? [])])].map((name) => ({
      name,
      required: isNeeded || inputKeys?.includes(name) === true,
    })),
  }
}

function textsIn(message: JsonObject): string[] {
  const content = getKey(message, 'content')
  if (typeof content === 'string') return [content]
  const parts = isJsonArray(content) ? content : []
  return parts.map((part) => getPath(part, 'text')).filter((text) => typeof text === 'string')
}

/** A message in MCP's form, which knows two roles and, of ours, texts. */
export interface FilledMessage {
  readonly role: 'user' | 'assistant'
  readonly content: { readonly type: 'text'; readonly text: string }
}

/**
 * The messages of a prompt with its variables filled in (interface 17.6). `name` is a slug, and may name a version or an environment:
 * `support-bot@3`, `support-bot@production`. A system message is a user's. Refuses with `invalid_request` if variables are missing.
 */
export async function fillPrompt(
  rest: Rest,
  name: string,
  values: Readonly<Record<string, string>>,
): Promise<{ readonly description?: string; readonly messages: FilledMessage[] }> {
  const revision = await retrieve(rest, 'application', nameAndPlace(name), { resolve: true })
  const prompt = promptIn(revision)
  if (!prompt)
    throw new Refusal('invalid_request', `name: ${name} is no prompt with messages. Read it as a resource.`)
  const variables = promptVariables(Object.fromEntries(Object.entries(values)))
  try {
    const rendered = renderMessages(prompt.templateFormat, prompt.messages, variables)
    const subject = getKey(revision, 'subject')
    const version = String(getKey(revision, 'version'))
    return {
      description: `Version ${version}: ${String(subject)}`,
      messages: rendered.flatMap(presentMessage),
    }
  } catch (error) {
    if (error instanceof TemplateFailure) throw new Refusal('invalid_request', `arguments: ${error.message}`)
    throw error
  }
}

/** `support-bot`, `support-bot@3` or `support-bot@production`; digits alone are a version. */
function nameAndPlace(text: string): { name: string; version?: number; environment?: string } {
  const at = text.lastIndexOf('@')
  if (at <= 0) return { name: text }
  const [name, place] = [text.slice(0, at), text.slice(at + 1)]
  return /^[0-9]{1,9}$/.test(place) ? { name, version: Number(place) } : { name, environment: place }
}

function presentMessage(message: JsonObject): FilledMessage[] {
  const content = getKey(message, 'content')
  const texts = isJsonArray(content) ? content.map(partText) : typeof content === 'string' ? [content] : []
  const role = getKey(message, 'role') === 'assistant' ? 'assistant' : 'user'
  return texts.map((text) => ({ role, content: { type: 'text', text } }))
}

function partText(part: Json): string {
  const text = getPath(part, 'text')
  return typeof text === 'string' ? text : stringifyJson(part)
}

/** The families whose artifacts are resources, as addresses and routes name them, each with the filter of its list. */
const FAMILIES: Readonly<Record<string, JsonObject>> = {
  applications: {},
  evaluators: {},
  workflows: { workflow: { flags: { is_application: false, is_evaluator: false } } },
  testsets: {},
}

/** What the address of a resource may look like (RFC 6570). */
export const RESOURCE_TEMPLATES = [
  ['latest', 'branchpoint://{family}/{slug}', 'The latest version of the default variant'],
  [
    'version',
    'branchpoint://{family}/{slug}@{version}',
    'A version of the default variant: branchpoint://applications/support-bot@3',
  ],
  [
    'deployed',
    'branchpoint://{family}/{slug}@{environment}',
    'What an environment runs: branchpoint://applications/support-bot@production',
  ],
].map(([name = '', uriTemplate = '', what = '']) => ({
  name,
  uriTemplate,
  description: `${what}. A family is ${Object.keys(FAMILIES).join(', ')}.`,
  mimeType: 'application/json',
}))

/** A resource as MCP lists it. */
export interface ListedResource {
  readonly uri: string
  readonly name: string
  readonly description?: string
  readonly mimeType: string
}

/** Lists the artifacts of the families as resources (interface 17.7), a page of one family at a time. */
export async function listResources(
  rest: Rest,
  cursor: string | undefined,
): Promise<{ readonly resources: ListedResource[]; readonly nextCursor?: string }> {
  const families = Object.keys(FAMILIES)
  const [family = '', next] = cursor === undefined ? [families[0]] : cursor.split(':', 2)
  const filter = Object.hasOwn(FAMILIES, family) ? FAMILIES[family] : undefined
  if (!filter)
    throw new Refusal('invalid_request', 'cursor: send the nextCursor of the answer before, as it is.')
  const windowing = given({ limit: PAGE, order: 'name', next: next || undefined })
  const answer = await rest.post(`/${family}/query`, { ...filter, windowing })
  const listed = getKey(answer, family)
  const resources = (isJsonArray(listed) ? listed : []).map((artifact) => {
    const [slug, description] = [String(getPath(artifact, 'slug')), getPath(artifact, 'description')]
    return {
      uri: `branchpoint://${family}/${encodeURIComponent(slug)}`,
      name: slug,
      ...(typeof description === 'string' ? { description } : {}),
      mimeType: 'application/json',
    }
  })
  const more = getPath(answer, 'windowing', 'next')
  const following = families[families.indexOf(family) + 1]
  const nextCursor = typeof more === 'string' ? `${family}:${more}` : following && `${following}:`
  return { resources, ...(nextCursor === undefined ? {} : { nextCursor }) }
}

/** How many rows of a testset a resource has. */
const MOST_ROWS = 100

/** The record of an artifact's version as JSON text, exactly as REST has it; undefined if the address is none of ours. */
export async function readResource(rest: Rest, uri: string): Promise<string | undefined> {
  const [, family = '', named = ''] = /^branchpoint:\/\/([a-z]+)\/([^/?#]{1,1000})$/.exec(uri) ?? []
  if (!Object.hasOwn(FAMILIES, family)) return undefined
  const rows = given({ windowing: family === 'testsets' ? { limit: MOST_ROWS } : undefined })
  const place = nameAndPlace(decoded(named))
  const revision = await retrieve(rest, family.slice(0, -1), place, rows)
  return stringifyJson(given(Object.fromEntries(SHOWN.map((key) => [key, getKey(revision, key)]))))
}

const SHOWN = [
  'artifact_slug',
  'variant_slug',
  'version',
  'id',
  'author',
  'date',
  'message',
  'subject',
  'data',
]

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
