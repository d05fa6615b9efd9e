/** What an embed leads to, as far as the token itself says it. */
export interface EmbedSource {
  /** `tone`, `tone v2`, `production`. */
  readonly name: string
  /** The artifact or environment that it names, for a link. */
  readonly artifact?: string
  readonly environment?: string
  /** What of it is taken. */
  readonly path?: string
}

/** An object that stands for what it embeds. */
export function isEmbed(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && ('@svc.embed' in value || '@svc.references' in value)
}

/** Reads an embed: a token in a text, or an object. */
export function sourceOf(embed: unknown): EmbedSource {
  const said = typeof embed === 'string' ? ofToken(embed) : ofObject(embed)
  const of = (level: string): Fields =>
    said.references[level] ??
    said.references[level.replace('workflow', 'application')] ??
    said.references[level.replace('workflow', 'evaluator')] ??
    {}
  const artifact = of('workflow').slug ?? of('workflow_artifact').slug
  const [revision, variant] = [of('workflow_revision'), of('workflow_variant')]
  const environment = of('environment').slug
  const version = revision.version ?? variant.version ?? of('workflow').version
  const name = revision.slug ?? variant.slug ?? artifact ?? environment ?? revision.id ?? 'something'
  return {
    name: version === undefined ? name : `${name} v${version}`,
    ...(artifact === undefined ? {} : { artifact }),
    ...(environment === undefined ? {} : { environment }),
    ...(said.path === undefined ? {} : { path: said.path }),
  }
}

interface Fields {
  readonly id?: string
  readonly slug?: string
  readonly version?: string
}

interface Said {
  readonly references: Readonly<Record<string, Fields>>
  readonly path: string | undefined
}

function ofToken(token: string): Said {
  const references: Record<string, Record<string, string>> = {}
  for (const [, level = '', field = '', value = ''] of token.matchAll(
    /(\w+)\s*\.\s*(id|slug|version)\s*[=:]\s*([^,&\]}\s]+)/g,
  )) {
    references[level] = { ...references[level], [field]: value }
  }
  return { references, path: /\bpath\s*[=:]\s*([^,&\]}]+)/.exec(token)?.[1]?.trim() }
}

function ofObject(embed: unknown): Said {
  const outer = record(embed)
  const inner = '@svc.embed' in outer ? record(outer['@svc.embed']) : outer
  const references: Record<string, Fields> = {}
  for (const [level, fields] of Object.entries(record(inner['@svc.references']))) {
    const texts = Object.entries(record(fields)).map(([key, value]) => [key, String(value)])
    references[level] = Object.fromEntries(texts) as Fields
  }
  const { path } = record(inner['@svc.selector'])
  return { references, path: typeof path === 'string' ? path : undefined }
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
