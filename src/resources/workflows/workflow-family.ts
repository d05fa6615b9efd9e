import {
  type Json,
  type JsonObject,
  entriesOf,
  getKey,
  isJsonObject,
  isJsonArray,
  keysOf,
} from '../../json/json.ts'
import {
  type AcceptedDocument,
  type DocumentDefinition,
  documentFamily,
} from '../../versioning/family/document-family.ts'
import type { Family, PayloadContext } from '../../versioning/family/family.ts'
import { threadOf } from '../documents/document-thread.ts'
import { mergeDelta } from '../documents/merge-delta.ts'
import type { HandlerTable } from './handler-table.ts'
import { handlerOf, isManaged, isSkill } from './handler-uri.ts'
import { acceptWorkflowData } from './workflow-data.ts'
import {
  WORKFLOW_DATA_FILE,
  decodeWorkflow,
  encodeWorkflow,
  filesBesideWorkflow,
  isWorkflowFile,
  textWarnings,
} from './workflow-files.ts'
import { findTexts, isLongText, isNeverText } from './texts/find-texts.ts'
import { writeTexts } from './texts/write-texts.ts'
import { presentWorkflow } from './workflow-url.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import { type InSlices, Pace } from '../../scheduling/cooperative.ts'
import type { MergeRules, Path } from '../../versioning/merge/merge-values.ts'
import { type Sides, eachSide } from '../../versioning/merge/merging.ts'
import { matchTexts } from '../../versioning/texts/match-texts.ts'
import type { PlacedText } from '../../versioning/texts/placed-text.ts'

/** What a workflow's payload is: its `data` object, and how it lies in files. */
export function workflowDocumentOf(handlers: HandlerTable): DocumentDefinition {
  return {
    name: 'workflow',
    folder: 'workflows',
    roles: ['is_application', 'is_evaluator', 'is_snippet'],
    aliases: ['application', 'evaluator'],
    mayEmbed: true,
    flagNames: derivedFlagNames,
    ownsFile: isWorkflowFile,
    file: WORKFLOW_DATA_FILE,
    setApart: (target, data, from) => writeTexts(target, data, WORKFLOW_DATA_FILE, from),
    encode: encodeWorkflow,
    decode: decodeWorkflow,
    filesBeside: filesBesideWorkflow,
    fileWarnings: textWarnings,
    thread: threadOf({ name: 'workflow', handlers: handlers.sent }),
    accept: (data, context) => acceptWorkflowData(data, context, handlers),
    applyDelta: (base, delta, context) => applyWorkflowDelta(base, delta, context, handlers),
    flags: deriveFlags,
    texts: findTexts,
    mergeRules: workflowMergeRules,
    present: presentWorkflow,
  }
}

/** Workflows, and so applications, evaluators and snippets, which are workflows by role (interface 1.1, 1.5). */
export function workflowFamilyOf(handlers: HandlerTable): Family {
  return documentFamily(workflowDocumentOf(handlers))
}

/**
 * The data that a delta `{set, remove}` makes of `base` (interface 4.4, legacy form): a null at the
 * top level of `set` unsets that field, a deeper one is stored. Refuses a delta of another shape with `invalid_delta`,
 * and a result that is no valid data with `invalid_request`.
 */
export function applyWorkflowDelta(
  base: JsonObject | undefined,
  delta: Json,
  context: PayloadContext,
  handlers: HandlerTable,
): AcceptedDocument {
  const derived = isManaged(base && handlerOf(base)) ? ['url'] : []
  const result = mergeDelta(base, delta, context, { examplePath: 'parameters.prompt', derived })
  // what is wrong with the result came in with `set`, save for the rare pushed base or half-removed schema
  return acceptWorkflowData(result, { ...context, loc: [...context.loc, 'set'] }, handlers)
}

/** The flags that `deriveFlags` gives, in wire order (interface 7.10). */
export const derivedFlagNames = [
  'is_managed',
  'is_custom',
  'is_llm',
  'is_hook',
  'is_code',
  'is_match',
  'is_feedback',
  'is_agent',
  'is_skill',
  'is_chat',
  'has_url',
  'has_script',
  'has_handler',
  'is_static',
] as const

/** The handlers that send a prompt to a model. */
const RUN_A_MODEL: readonly string[] = ['llm', 'completion', 'chat']

/**
 * What a revision's data says about it (interface 7.10); all false for a revision without data.
 * `has_handler` is false because no handler is registered over HTTP, `is_static` because no stored revision is one that
 * ships with the service. Never fails, whatever a push has put into the data.
 */
export function deriveFlags(
  data: JsonObject | undefined,
): Readonly<Record<(typeof derivedFlagNames)[number], boolean>> {
  const field = (key: string): Json | undefined => (data === undefined ? undefined : getKey(data, key))
  const text = (key: string): string => (typeof field(key) === 'string' ? String(field(key)) : '')
  const uri = data && handlerOf(data)
  const runs = !isSkill(uri)
  return {
    is_managed: isManaged(uri),
    is_custom: uri?.kind === 'custom',
    is_llm: uri !== undefined && RUN_A_MODEL.includes(uri.key),
    is_hook: uri?.key === 'hook',
    is_code: uri?.key === 'code',
    is_match: uri?.key === 'match',
    is_feedback: uri?.key === 'feedback',
    is_agent: uri?.key === 'agent',
    is_skill: uri?.key === 'skill',
    is_chat: uri?.key === 'chat' || takesMessages(field('schemas')),
    has_url: runs && (isManaged(uri) || text('url') !== ''),
    has_script: runs && text('script') !== '',
    has_handler: false,
    is_static: false,
  }
}

/** Whether a property of the inputs is of the catalog's type for a message or a list of them. */
function takesMessages(schemas: Json | undefined): boolean {
  const inputs = isJsonObject(schemas) ? getKey(schemas, 'inputs') : undefined
  const properties = isJsonObject(inputs) ? getKey(inputs, 'properties') : undefined
  if (!isJsonObject(properties)) return false
  return entriesOf(properties).some(([, property]) => {
    const type = isJsonObject(property) ? getKey(property, 'x-svc-type-ref') : undefined
    return type === 'messages' || type === 'message'
  })
}

/**
 * How two revisions' data are merged: texts by line and word, the script by line, messages as texts are followed from one revision to the
 * next, tools by name or id, what an embed refers to as one thing.
 */
const workflowMergeRules: MergeRules = { isWhole: isEmbed, textUnit, identify }

function isEmbed(_path: Path, value: JsonObject): boolean {
  return keysOf(value).some((key) => key.startsWith('@svc.'))
}

function textUnit(path: Path, texts: readonly string[]): 'words' | 'lines' | undefined {
  if (path.length === 1 && path[0] === 'script') return 'lines'
  if (path[0] !== 'parameters' || isNeverText(path.at(-1) ?? '')) return undefined
  const isMessage = path.includes('messages') && (path.at(-1) === 'content' || path.at(-1) === 'text')
  return isMessage || texts.some(isLongText) ? 'words' : undefined
}

function* identify(
  path: Path,
  arrays: Sides<readonly Json[]>,
): InSlices<Sides<readonly string[]> | undefined> {
  if (path.at(-1) === 'messages') return yield* identifyMessages(arrays)
  return path.at(-1) === 'tools' ? identifyTools(arrays) : undefined
}

/** The base's messages are told by their places; another side's is the one that it goes on from, else a new one. */
function* identifyMessages({
  base,
  target,
  source,
}: Sides<readonly Json[]>): InSlices<Sides<readonly string[]> | undefined> {
  const messages = eachSide({ base, target, source }, (items) => items.map(placedMessage))
  const areMessages = [messages.base, messages.target, messages.source].every((side) =>
    side.every((it) => it !== undefined),
  )
  if (!areMessages) return undefined
  const placed = eachSide(messages, (side) => side.flatMap((it) => it ?? []))
  yield
  const placeInBase = new Map(placed.base.map((text, at) => [text, at]))
  function* follow(side: readonly PlacedText[], prefix: string): InSlices<string[]> {
    const found = yield* matchTexts(side, placed.base)
    return side.map((text, at) => {
      const earlier = found.get(text)
      return earlier ? `base ${placeInBase.get(earlier) ?? 0}` : `${prefix} ${at}`
    })
  }
  const ofTarget = yield* follow(placed.target, 'target')
  const ofSource = yield* follow(placed.source, 'source')
  const pace = new Pace()
  const added = new Map<string, string>()
  for (const [at, item] of target.entries()) {
    added.set(`${ofTarget[at - 1] ?? ''} ${stringifyJson(item)}`, ofTarget[at] ?? '')
    if (pace.isDue) yield
  }
  // What both added alike behind the same message is one message.
  for (const [at, item] of source.entries()) {
    if (pace.isDue) yield
    const same = added.get(`${ofSource[at - 1] ?? ''} ${stringifyJson(item)}`)
    if (ofSource[at] === `source ${at}` && same?.startsWith('target ')) ofSource[at] = same
  }
  return { base: placed.base.map((_, at) => `base ${at}`), target: ofTarget, source: ofSource }
}

function placedMessage(item: Json, at: number): PlacedText | undefined {
  if (!isJsonObject(item)) return undefined
  const [role, content] = [getKey(item, 'role'), getKey(item, 'content')]
  if (role === undefined) return undefined
  return {
    keys: [at],
    pointer: `/${at}`,
    message: { array: '', role: typeof role === 'string' ? role : undefined },
    text: saidIn(content) ?? stringifyJson(item),
  }
}

/** The text of a message's content; undefined if it has none. */
function saidIn(content: Json | undefined): string | undefined {
  if (typeof content === 'string') return content
  if (!isJsonArray(content)) return undefined
  const texts = content.flatMap((part) => {
    const text = isJsonObject(part) ? getKey(part, 'text') : undefined
    return typeof text === 'string' ? text : []
  })
  return texts.length === 0 ? undefined : texts.join('\n')
}

/** Tools by their ids or names, where each has one of its own. */
function identifyTools(arrays: Sides<readonly Json[]>): Sides<readonly string[]> | undefined {
  const ids = eachSide(arrays, (items) => items.map(nameOf))
  const areNamed = [ids.base, ids.target, ids.source].every(
    (side) => side.every((id) => id !== undefined) && new Set(side).size === side.length,
  )
  return areNamed ? eachSide(ids, (side) => side.flatMap((id) => id ?? [])) : undefined
}

function nameOf(tool: Json): string | undefined {
  if (!isJsonObject(tool)) return undefined
  const of = getKey(tool, 'function')
  for (const name of [getKey(tool, 'id'), getKey(tool, 'name'), isJsonObject(of) && getKey(of, 'name')])
    if (typeof name === 'string') return name
  return undefined
}
