/** What an embed leads to, as far as it says it itself. */
export interface EmbedSource {
  /** `tone`, `tone v2`, `production`. */
  readonly name: string
  /** What of it is taken. */
  readonly path: string | undefined
  /** As a retrieve takes them; undefined where they lead to no revision of a prompt, evaluator or workflow. */
  readonly references: EmbedReferences | undefined
}

export interface EmbedReferences {
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

/** An object that stands for what it embeds. */
export function isEmbed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('@svc.embed' in value || '@svc.references' in value)
}

/** Reads an embed: a token in a text, or an object. */
export function sourceOf(embed: unknown): EmbedSource {
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

/** Prompts and evaluators are workflows, whatever word names them. */
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
  const outer = record(embed)
  const inner = '@svc.embed' in outer ? record(outer['@svc.embed']) : outer
  const said = Object.entries(record(inner['@svc.references'])).map(([level, reference]) => {
    const texts = Object.entries(record(reference)).map(([field, value]) => [field, String(value)])
    return [level, Object.fromEntries(texts) as EmbedReference] as const
  })
  const { path, key } = record(inner['@svc.selector'])
  return { levels: levelsOf(said), path: textOf(path), key: textOf(key) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
