import { format, resolveConfig } from 'prettier'
import { handlerDefinitions } from '../../src/run/handlers/built-in-handlers.ts'
import type { CatalogTemplate } from '../../src/run/catalog/catalog-template.ts'
import { catalogTemplates } from '../../src/run/catalog/find-in-catalog.ts'
import {
  type HandlerContext,
  type HandlerDefinition,
  ReasonedVerdict,
  StreamedOutputs,
} from '../../src/run/handlers/handler.ts'
import { handlerTable } from '../../src/run/handlers/workflows.ts'
import {
  entriesOf,
  getKey,
  isJsonArray,
  isJsonObject,
  keysOf,
  type Json,
  type JsonObject,
  withKey,
} from '../../src/base/json/json.ts'
import { stringifyJson } from '../../src/base/json/stringify-json.ts'
import { markdownTable } from './generated-part.ts'

/** Where the page stands, from the root of the repository. */
export const HANDLERS_PAGE = 'docs/handlers.md'

const HEAD = `<!-- Made from the code: change the definition of a handler in src/run/handlers, and then run npm run docs. -->

# Handlers

A handler is what runs a workflow. A workflow says which one in \`data.uri\`, and sets it up in \`data.parameters\`. An example shows a
request to \`POST /services/<key>/v0/invoke\` and the outputs in its answer, or, of a handler that needs something outside of this
service, the \`data\` to begin from.

A new one is a file with its \`HandlerDefinition\` in \`src/run/handlers\`, and its name in the list of \`built-in-handlers.ts\`. Then
\`npm run docs\` adds it here, and the table in \`test/run/handlers/catalog/templates.test.ts\` says that the catalog is to have it.
`

/** The page on handlers, a section for each of the table, as it is checked in. */
export async function handlersPage(): Promise<string> {
  const sections = await Promise.all(handlerDefinitions.map(sectionOf))
  const page = [HEAD, ...sections].join('\n')
  return format(page, { ...(await resolveConfig(HANDLERS_PAGE)), parser: 'markdown' })
}

async function sectionOf(handler: HandlerDefinition): Promise<string> {
  const template = catalogTemplates.find(({ key }) => key === handler.key)
  return [
    `## ${handler.template?.name ?? handler.key}\n`,
    `\`${handlerTable.uriOf(handler.key)}\` · ${kindOf(handler)}\n`,
    `${handler.template?.description ?? NOT_OFFERED}\n`,
    settingsOf(handler),
    presetsOf(handler),
    await exampleOf(handler, template),
  ].join('\n')
}

const NOT_OFFERED =
  'Kept and versioned here; the catalog does not offer it, and this service does not run it.'

function kindOf({ template, run }: HandlerDefinition): string {
  const roles = template?.roles === 'both' ? 'application or evaluator' : template?.roles
  return [
    ...(roles === undefined ? [] : [roles]),
    ...(template?.categories ?? []).filter((category) => category !== 'builtin'),
    ...(template?.callsModels === true ? ['needs a provider of models'] : []),
    ...(run ? [] : ['not run here']),
    ...(template?.isArchived === true
      ? ['archived: superseded, and kept for the workflows that use it']
      : []),
  ].join(' · ')
}

function settingsOf({ schemas }: HandlerDefinition): string {
  const properties = schemas?.parameters && getKey(schemas.parameters, 'properties')
  if (!isJsonObject(properties) || keysOf(properties).length === 0) return ''
  const required = schemas?.parameters && getKey(schemas.parameters, 'required')
  const rows = entriesOf(properties).map(([name, schema]) => {
    const about = isJsonObject(schema) ? schema : {}
    const isRequired = isJsonArray(required) && required.includes(name)
    const said = getKey(about, 'title') ?? getKey(about, 'description') ?? ''
    return [`\`${name}\`${isRequired ? ' (required)' : ''}`, typeOf(about), defaultOf(about), String(said)]
  })
  return markdownTable([['Setting', 'Type', 'Default', 'What it is'], ...rows])
}

function typeOf(schema: JsonObject): string {
  const choices = getKey(schema, 'enum')
  if (isJsonArray(choices)) return choices.map((choice) => `\`${String(choice)}\``).join(', ')
  const type = getKey(schema, 'type')
  const named = getKey(schema, 'x-svc-type-ref')
  const words = isJsonArray(type) ? type.join(' or ') : String(type)
  return typeof named === 'string' ? `${words} (catalog type \`${named}\`)` : words
}

/** Defaults that are whole documents are in the example. */
function defaultOf(schema: JsonObject): string {
  const value = getKey(schema, 'default')
  if (value === undefined) return ''
  const text = stringifyJson(value)
  return text.length <= 40 ? `\`${text}\`` : 'as in the example'
}

function presetsOf({ presets = [] }: HandlerDefinition): string {
  if (presets.length === 0) return ''
  return `\nPresets:\n\n${presets.map(({ key, description }) => `- \`${key}\`: ${description}\n`).join('')}`
}

async function exampleOf(handler: HandlerDefinition, template: CatalogTemplate | undefined): Promise<string> {
  const { key, example } = handler
  if (example === undefined) {
    const uri = handlerTable.uriOf(key)
    const parameters = template?.parameters ?? {}
    return fenced({ data: { uri, ...(keysOf(parameters).length > 0 ? { parameters } : {}) } })
  }
  return `${fenced({ data: example } as JsonObject)}\n${fenced(await outputsOf(handler))}`
}

/** What the handler answers to its example, without anything outside of this process. */
async function outputsOf({ key, run, example = {} }: HandlerDefinition): Promise<Json> {
  const nothing = { outputs: undefined, inputs: undefined, trace: undefined, testcase: undefined }
  const request = {
    parameters: {},
    data: {},
    flags: {},
    judges: true,
    wantsStream: false,
    ...nothing,
    ...example,
  }
  const context = { untilGone: () => new AbortController().signal, isPatient: true } as HandlerContext
  const outputs = await run?.(request, context)
  if (outputs instanceof ReasonedVerdict) return withKey(outputs.outputs, 'reason', outputs.reason)
  if (outputs === undefined || outputs instanceof StreamedOutputs)
    throw new Error(`${key} answers its example in pieces, or not at all`)
  return outputs
}

function fenced(value: Json): string {
  return `\`\`\`json\n${stringifyJson(value)}\n\`\`\`\n`
}
