import {
  entriesOf,
  getKey,
  getPath,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  keysOf,
  withKey,
  stringifyJson,
} from '../../base/json.ts'
import type { InSlices } from '../../base/scheduling.ts'
import {
  type AcceptedDocument,
  type DocumentDefinition,
  documentFamily,
  type FileReader,
  type PayloadFile,
} from '../payload/document-family.ts'
import type { Family, PayloadContext, Warning } from '../payload/family.ts'
import type { MergeRules, Path } from '../merge/merge-values.ts'
import { eachSide, type Sides } from '../merge/merging.ts'
import { matchTexts } from '../texts/match-texts.ts'
import type { PlacedText } from '../texts/placed-text.ts'
import { threadOf } from '../documents/document-thread.ts'
import { mergeDelta } from '../documents/deltas.ts'
import { damaged, decodeJsonFile, decodeText } from '../documents/stored-json.ts'
import { acceptWorkflowData, runtimes } from './workflow-data.ts'
import {
  handlerOf,
  type HandlerTable,
  type HandlerUri,
  isManaged,
  isSkill,
  presentWorkflow,
} from './workflow-data.ts'
import {
  findTexts,
  isLongText,
  isTextPath,
  NEVER_TEXTS,
  pointersIn,
  readTexts,
  TEXT_FOLDERS,
  WORKFLOW_DATA_FILE,
  writeTexts,
} from './workflow-texts.ts'

/** The payload of a workflow: its `data` object, and its files. */
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
    setApart: writeTexts,
    encode: encodeWorkflow,
    decode: decodeWorkflow,
    rootFiles: rootFilesOf,
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
 * The result of a delta `{set, remove}` on `base` (interface 4.4, legacy form): a null at the top level of `set` removes that field, a deeper one
 * is stored. Refuses a delta of another form with `invalid_delta`, and an invalid result with `invalid_request`.
 */
export function applyWorkflowDelta(
  base: JsonObject | undefined,
  delta: Json,
  context: PayloadContext,
  handlers: HandlerTable,
): AcceptedDocument {
  const derived = isManaged(base && handlerOf(base)) ? ['url'] : []
  const result = mergeDelta(base, delta, context, { examplePath: 'parameters.prompt', derived })
  // Almost always the problem came with `set`; rarely it was in a pushed base, or is a schema of which a part was removed.
  return acceptWorkflowData(result, { ...context, loc: [...context.loc, 'set'] }, handlers)
}

/** The possible names of a source file in a commit's tree, one for each of `runtimes` in order (interface 15.5). */
const scriptFiles: readonly string[] = ['script.py', 'script.ts', 'script.js']

/** The name of the source file in this language; undefined for a language that is none of `runtimes`. */
function scriptFile(runtime: unknown): string | undefined {
  return typeof runtime === 'string' ? scriptFiles[runtimes.indexOf(runtime)] : undefined
}

/** Whether a path of a commit's tree is used by the functions below, or is a folder of texts. */
export function isWorkflowFile(path: string): boolean {
  return path === WORKFLOW_DATA_FILE || scriptFiles.includes(path) || TEXT_FOLDERS.includes(path)
}

/**
 * The files of a workflow's data (interface 15.5): `data.json`, as two-space JSON with its keys in their order, and the source in a file of its
 * own if `runtime` is a known language; `script` is then the name of that file.
 */
export function encodeWorkflow(data: JsonObject | undefined): readonly PayloadFile[] {
  if (data === undefined) return []
  const script = getKey(data, 'script')
  const name = typeof script === 'string' ? scriptFile(getKey(data, 'runtime')) : undefined
  if (typeof script !== 'string' || name === undefined) return [{ path: WORKFLOW_DATA_FILE, content: data }]
  return [
    { path: name, content: Buffer.from(script) },
    { path: WORKFLOW_DATA_FILE, content: withKey(data, 'script', name) },
  ]
}

/**
 * The data in a commit's tree; undefined without `data.json`. A source file is used instead of a source in `data.json`, and its key comes last if
 * `data.json` has no `script`, so that both can be changed with plain git. Texts may be in files of their own (interface 7.16). Refuses unreadable
 * files with `damaged_repository`, naming file and place, and a format of later servers with `unsupported_format`.
 */
export async function decodeWorkflow(read: FileReader, maxValues?: number): Promise<JsonObject | undefined> {
  const bytes = await read(WORKFLOW_DATA_FILE)
  if (bytes === undefined) return undefined
  const stored = decodeJsonFile(WORKFLOW_DATA_FILE, bytes, "a workflow's data", maxValues)
  const data = await readTexts(WORKFLOW_DATA_FILE, stored, read)
  const name = await sourceName(data, read)
  if (name === undefined) return data
  const source = await read(name)
  if (source !== undefined) return withKey(data, 'script', decodeText(name, source, true))
  if (getKey(data, 'script') !== name) return data
  throw damaged(
    `${WORKFLOW_DATA_FILE} says that the script is in ${name}, but there is no such file beside it.`,
  )
}

/** The files in the root that belong to this data: besides `data.json` the source file of its language, or each possible one. */
function rootFilesOf(data: JsonObject | undefined): readonly string[] {
  if (!data) return [WORKFLOW_DATA_FILE]
  const own = scriptFile(getKey(data, 'runtime'))
  return [WORKFLOW_DATA_FILE, ...(own === undefined ? scriptFiles : [own])]
}

/** The files that `data.json` names, from its bytes: the texts with the number of their uses, and the possible source files. */
export function filesBesideWorkflow(main: Buffer): ReadonlyMap<string, number> {
  const stored = decodeJsonFile(WORKFLOW_DATA_FILE, main, "a workflow's data")
  const files = new Map(scriptFiles.map((name) => [name, 1]))
  for (const [path, pointers] of pointersIn(WORKFLOW_DATA_FILE, stored) ?? [])
    files.set(path, pointers.length)
  return files
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** Characters that editors add to the file of a text: people do not see them, but every model would get them. */
export function textWarnings(path: string, bytes: Buffer): readonly Warning[] {
  if (!isTextPath(path)) return []
  const warning = (code: string, what: string): Warning => ({
    code,
    message: `${path} ${what}, and is stored so: it is a part of the text that a model gets. branchpoint canonicalise takes it out.`,
  })
  return [
    ...(hasMark(bytes) ? [warning('byte_order_mark', 'begins with a byte order mark')] : []),
    ...(bytes.includes('\r\n') ? [warning('carriage_returns', 'ends lines with CR LF')] : []),
  ]
}

/** The bytes of a text's file without those characters. */
export function cleanText(bytes: Buffer): Buffer {
  const text = hasMark(bytes) ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes
  // One character for each byte, so that bytes that are not UTF-8 stay unchanged.
  return text.includes('\r\n')
    ? Buffer.from(text.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
    : text
}

function hasMark(bytes: Buffer): boolean {
  return bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
}

/** The source file: that of the runtime; without a runtime the named one, else the first existing one. */
async function sourceName(data: JsonObject, read: FileReader): Promise<string | undefined> {
  const own = scriptFile(getKey(data, 'runtime'))
  if (own !== undefined) return own
  const named = getKey(data, 'script')
  const there: string[] = []
  for (const name of scriptFiles) if (await read(name)) there.push(name)
  return there.find((name) => name === named) ?? there[0]
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
 * The flags of a revision from its data (interface 7.10); all false without data. `has_handler` is false because no handler is registered over
 * HTTP, and `is_static` because no stored revision comes with the service. Never fails, whatever data was pushed.
 */
export function deriveFlags(
  data: JsonObject = {},
): Readonly<Record<(typeof derivedFlagNames)[number], boolean>> {
  const uri: HandlerUri | undefined = handlerOf(data)
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
    is_chat: uri?.key === 'chat' || takesMessages(getPath(data, 'schemas', 'inputs', 'properties')),
    has_url: runs && (isManaged(uri) || isFilled(getKey(data, 'url'))),
    has_script: runs && isFilled(getKey(data, 'script')),
    has_handler: false,
    is_static: false,
  }
}

function isFilled(text: Json | undefined): boolean {
  return typeof text === 'string' && text !== ''
}

/** Whether one of these inputs has the catalog's type for a message, or for a list of messages. */
function takesMessages(properties: Json | undefined): boolean {
  if (!isJsonObject(properties)) return false
  return entriesOf(properties).some(([, property]) => {
    const type = getPath(property, 'x-svc-type-ref')
    return type === 'messages' || type === 'message'
  })
}

/**
 * How the data of two revisions is merged: texts by line and word, the script by line, messages by following each text from one revision to the
 * next, tools by name or id, and the reference of an embed as one value.
 */
const workflowMergeRules: MergeRules = { isWhole: isEmbed, textUnit, identify }

function isEmbed(_path: Path, value: JsonObject): boolean {
  return keysOf(value).some((key) => key.startsWith('@svc.'))
}

function textUnit(path: Path, texts: readonly string[]): 'words' | 'lines' | undefined {
  if (path.length === 1 && path[0] === 'script') return 'lines'
  if (path[0] !== 'parameters' || NEVER_TEXTS.has(path.at(-1) ?? '')) return undefined
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

/** A message of the base is identified by its place. A message of another side has the identity of the one that it continues, or a new one. */
function* identifyMessages(arrays: Sides<readonly Json[]>): InSlices<Sides<readonly string[]> | undefined> {
  const messages = eachSide(arrays, (items) => items.map(placedMessage))
  const areMessages = [messages.base, messages.target, messages.source].every((side) =>
    side.every((it) => it !== undefined),
  )
  if (!areMessages) return undefined
  const { base, target, source } = eachSide(messages, (side) => side.flatMap((it) => it ?? []))
  const placeInBase = new Map(base.map((text, at) => [text, at]))
  const follow = function* (side: readonly PlacedText[], prefix: string): InSlices<string[]> {
    const found = yield* matchTexts(side, base)
    return side.map((text, at) => {
      const earlier = found.get(text)
      return earlier ? `base ${placeInBase.get(earlier) ?? 0}` : `${prefix} ${at}`
    })
  }
  const [ofTarget, ofSource] = [yield* follow(target, 'target'), yield* follow(source, 'source')]
  yield
  const added = new Map<string, string>()
  for (const [at, item] of arrays.target.entries())
    added.set(`${ofTarget[at - 1] ?? ''} ${stringifyJson(item)}`, ofTarget[at] ?? '')
  // Equal messages that both sides added after the same message are one message.
  for (const [at, item] of arrays.source.entries()) {
    const same = added.get(`${ofSource[at - 1] ?? ''} ${stringifyJson(item)}`)
    if (ofSource[at] === `source ${at}` && same?.startsWith('target ')) ofSource[at] = same
  }
  return { base: base.map((_, at) => `base ${at}`), target: ofTarget, source: ofSource }
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

/** Tools by their ids or names, if all have different ones. */
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
