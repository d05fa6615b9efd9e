import { Link } from '@tanstack/react-router'
import { ChevronDown, ChevronRight, Link2 } from 'lucide-react'
import { useState } from 'react'
import type { Ask } from '../../api/call.ts'
import { membersOf } from '../../api/json.ts'
import { useRoute } from '../../api/use-route.ts'
import { places } from '../../shell/places.ts'
import { RevisionChip } from '../chips/chips.tsx'
import { JsonView } from '../json/json-view.tsx'
import { Failure } from '../states/states.tsx'
import { type TemplateFormat, variablesIn } from '../../../run/templates/template-variables.ts'
import { Fold, visible } from '../text/text.tsx'
import styles from './prompt.module.css'

interface PromptTextProps {
  readonly text: string
  readonly format: TemplateFormat
}

/** Longer texts are cut; the files have all of it. */
const MOST = 200_000

/** A text of a prompt: variables marked, embeds folded, hidden characters made visible. */
export function PromptText({ text, format }: PromptTextProps) {
  const rest = text.length - MOST
  return (
    <>
      <Fold
        text={rest > 0 ? text.slice(0, MOST) : text}
        lines={24}
        render={(shown) => <Parts text={shown} format={format} />}
      />
      {rest > 0 && (
        <p className={styles.from}>{rest.toLocaleString()} characters more are among the files.</p>
      )}
    </>
  )
}

function Parts({ text, format }: PromptTextProps) {
  return partsOf(text, format).map((part, at) => {
    if (part.kind === 'embed') return <Embed key={at} of={part.text} />
    if (part.kind === 'text') return <span key={at}>{visible(part.text)}</span>
    return (
      <span
        key={at}
        className={part.kind === 'variable' ? styles.variable : styles.control}
        title={part.kind === 'variable' ? 'A variable' : `${format}: it steers what is written`}
      >
        {visible(part.text)}
      </span>
    )
  })
}

/** A part of a template: text, a variable, a control (a section, a loop), or an embed. */
interface TemplatePart {
  readonly kind: 'text' | 'variable' | 'control' | 'embed'
  readonly text: string
}

/** The limit of marks; the rest is plain text. */
const TEMPLATE_PARTS_MOST = 2000

/** The parts of a template; together they are the text. */
function partsOf(text: string, format: TemplateFormat): readonly TemplatePart[] {
  const embeds = embedsIn(text).map((range) => ({ ...range, kind: 'embed' as const }))
  const variables = variablesIn(text, format)
    .filter(({ from, to }) => !embeds.some((embed) => embed.from < to && from < embed.to))
    .map(({ name, from, to }) => ({
      from,
      to,
      kind: name === '' ? ('control' as const) : ('variable' as const),
    }))
  const marks = [...embeds, ...variables].sort((a, b) => a.from - b.from).slice(0, TEMPLATE_PARTS_MOST)
  const parts: TemplatePart[] = []
  let done = 0
  for (const { from, to, kind } of marks) {
    if (from > done) parts.push({ kind: 'text', text: text.slice(done, from) })
    parts.push({ kind, text: text.slice(from, to) })
    done = to
  }
  if (done < text.length) parts.push({ kind: 'text', text: text.slice(done) })
  return parts
}

/** Half-open, in UTF-16 units. */
interface TextRange {
  readonly from: number
  readonly to: number
}

/** Longer tokens are plain text. */
const LONGEST = 1000

/** The embeds in a text: `@svc.embed[…]` in one line, or `@{{…}}` with a reference (docs/guide/snippets.md). */
function embedsIn(text: string): readonly TextRange[] {
  const found: TextRange[] = []
  const start = /@svc\.embed\[|@\{\{/g
  for (let at = start.exec(text); at; at = start.exec(text)) {
    const from = at.index
    const to = at[0] === '@{{' ? endOfShort(text, from) : endOfLong(text, from + at[0].length)
    if (to === undefined) continue
    found.push({ from, to })
    start.lastIndex = to
  }
  return found
}

/** The text without its embeds, whose braces are no variables. */
export function withoutEmbeds(text: string): string {
  let rest = ''
  let done = 0
  for (const { from, to } of embedsIn(text)) {
    rest += text.slice(done, from)
    done = to
  }
  return rest + text.slice(done)
}

/** The content of a short embed; other braces are text. */
const NAMES_SOMETHING =
  /\b(?:workflow|application|evaluator|environment)(?:_artifact|_variant|_revision)?\s*\.\s*(?:id|slug|version)\s*[=:]/

function endOfShort(text: string, from: number): number | undefined {
  const token = text.slice(from, from + LONGEST)
  const end = token.indexOf('}}')
  return end >= 0 && NAMES_SOMETHING.test(token.slice(0, end)) ? from + end + 2 : undefined
}

/** The index after the bracket that closes the one before `at`. */
function endOfLong(text: string, at: number): number | undefined {
  let depth = 1
  for (let index = at; index < text.length && index - at < LONGEST; index++) {
    const character = text[index]
    if (character === '\n') return undefined
    if (character === '[') depth++
    if (character === ']') depth--
    if (depth === 0) return index + 1
  }
  return undefined
}

type Resolve = Ask<'POST /workflows/revisions/resolve'>

/** An embed: folded to its source; unfolded, its current value. */
export function Embed({ of }: { readonly of: unknown }) {
  const [isOpen, setOpen] = useState(false)
  const { name, path } = sourceOf(of)
  return (
    <span>
      <button
        type="button"
        aria-expanded={isOpen}
        className={styles.embedHead}
        title={typeof of === 'string' ? of : JSON.stringify(of)}
        onClick={() => setOpen(!isOpen)}
      >
        <Link2 size={13} aria-hidden />
        <span className="visually-hidden">Embedded: </span>
        {name}
        {path !== undefined && <span className="muted">{path}</span>}
        {isOpen ? <ChevronDown size={13} aria-hidden /> : <ChevronRight size={13} aria-hidden />}
      </button>
      {isOpen && <Embedded of={of} />}
    </span>
  )
}

function Embedded({ of }: { readonly of: unknown }) {
  const { references } = sourceOf(of)
  const body = {
    workflow_revision: { data: { parameters: { value: of } } },
    error_policy: 'exception',
  } as Resolve['body']
  const { data, error } = useRoute('POST /workflows/revisions/resolve', { body })
  if (error) return <Failure error={error} />
  if (!data) return <span className={styles.from}>Looking it up …</span>
  const resolved = data.workflow_revision.data as { readonly parameters?: { readonly value?: unknown } }
  const value = resolved.parameters?.value
  return (
    <span className={styles.embedded}>
      {typeof value === 'string' ? <Fold text={value} /> : <JsonView value={value} />}
      {references && <Source references={references} />}
    </span>
  )
}

/** The revision that it comes from now. */
function Source({ references }: { readonly references: EmbedReferences }) {
  const { data } = useRoute('POST /workflows/revisions/retrieve', { body: references })
  if (!data) return null
  const { workflow_slug: artifact, slug, version, author, date } = data.workflow_revision
  return (
    <span className={styles.from}>
      from <Link to={places.artifact(artifact)}>{artifact}</Link>{' '}
      <RevisionChip
        to={places.revision(artifact, slug)}
        version={Number(version)}
        author={author}
        date={date}
        environments={references.environment_ref?.slug === undefined ? [] : [references.environment_ref.slug]}
      />
    </span>
  )
}

/** The source of an embed, as far as the embed names it. */
interface EmbedSource {
  /** `tone`, `tone v2`, `production`. */
  readonly name: string
  /** The path of the value inside the source. */
  readonly path: string | undefined
  /** The references for a retrieve; undefined if they do not lead to a prompt, evaluator or workflow. */
  readonly references: EmbedReferences | undefined
}

interface EmbedReferences {
  readonly workflow_ref?: EmbedReference
  readonly workflow_variant_ref?: EmbedReference
  readonly workflow_revision_ref?: EmbedReference
  readonly environment_ref?: EmbedReference
  readonly key?: string
}

interface EmbedReference {
  readonly id?: string
  readonly slug?: string
  readonly version?: string
}

/** Whether an object is an embed. */
export function isEmbed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('@svc.embed' in value || '@svc.references' in value)
}

/** Parses an embed: a token in a text, or an object. */
function sourceOf(embed: unknown): EmbedSource {
  const { levels, path, key } = typeof embed === 'string' ? ofToken(embed) : ofObject(embed)
  const { workflow, workflow_variant: variant, workflow_revision: revision, environment } = levels
  const version = revision?.version ?? variant?.version ?? workflow?.version
  const known = [revision, variant, workflow, environment].find((it) => it?.slug ?? it?.id)
  const name = known?.slug ?? known?.id ?? 'something'
  const references = {
    ...(workflow && { workflow_ref: workflow }),
    ...(variant && { workflow_variant_ref: variant }),
    ...(revision && { workflow_revision_ref: revision }),
    ...(environment && { environment_ref: environment }),
    ...(environment && key !== undefined && { key }),
  }
  return {
    name: version === undefined ? name : `${name} v${version}`,
    path,
    references: Object.keys(references).length === 0 ? undefined : references,
  }
}

interface Said {
  readonly levels: Levels
  readonly path: string | undefined
  readonly key: string | undefined
}

/** Prompts and evaluators are workflows, whatever they are called. */
type Levels = Readonly<
  Partial<Record<'workflow' | 'workflow_variant' | 'workflow_revision' | 'environment', EmbedReference>>
>

function levelsOf(said: Iterable<readonly [level: string, reference: EmbedReference]>): Levels {
  const levels: Record<string, EmbedReference> = {}
  for (const [level, reference] of said) {
    const name = level.replace(/^(?:application|evaluator)/, 'workflow').replace(/_artifact$/, '')
    levels[name] = { ...levels[name], ...reference }
  }
  return levels
}

function ofToken(token: string): Said {
  const fields = token.matchAll(/(\w+)\s*\.\s*(id|slug|version)\s*[=:]\s*([^,&\]}\s]+)/g)
  const said = [...fields].map(
    ([, level = '', field = '', value = '']) => [level, { [field]: value }] as const,
  )
  const selected = (name: string): string | undefined =>
    new RegExp(`[[{,&\\s]${name}\\s*[=:]\\s*([^,&\\]}]+)`).exec(token)?.[1]?.trim()
  return { levels: levelsOf(said), path: selected('path'), key: selected('key') }
}

function ofObject(embed: unknown): Said {
  const outer = membersOf(embed)
  const inner = '@svc.embed' in outer ? membersOf(outer['@svc.embed']) : outer
  const said = Object.entries(membersOf(inner['@svc.references'])).map(([level, reference]) => {
    const texts = Object.entries(membersOf(reference)).map(([field, value]) => [field, String(value)])
    return [level, Object.fromEntries(texts) as EmbedReference] as const
  })
  const { path, key } = membersOf(inner['@svc.selector'])
  return { levels: levelsOf(said), path: textOf(path), key: textOf(key) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
