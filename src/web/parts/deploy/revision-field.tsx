import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { call, Problem } from '../../api/call.ts'
import { useRoute } from '../../api/use-route.ts'
import { Combobox, type ComboboxOption } from '../combobox/combobox.tsx'
import { type End, endOf, nameOfEnd, textOfEnd } from '../compare/ends.ts'
import { useEnvironments } from './use-deployments.ts'

export interface RevisionFieldProps {
  readonly label: string
  /** The slug of the artifact. */
  readonly artifact: string
  /** The selected version, in words. */
  readonly shown: string
  readonly choose: (end: End) => void
  /** An environment that is not offered, such as the target. */
  readonly except: string | undefined
}

const VERSIONS_PER_PAGE = 25
/** A version number is looked up in at most this many variants. */
const MOST_VARIANTS = 20

/**
 * A field for a version of an artifact. Without words it lists the newest version of each variant, the environments, and all versions, newest
 * first; `v3` or `warmer v3` finds a version by number, other words by its texts and message.
 */
export function RevisionField({ label, artifact, shown, choose, except }: RevisionFieldProps) {
  const [typed, setTyped] = useState<string>()
  const [limit, setLimit] = useState(VERSIONS_PER_PAGE)
  const words = useDeferredValue((typed ?? '').trim())
  const enabled = typed !== undefined
  const variants = useRoute(
    'POST /workflows/variants/query',
    { body: { workflow_refs: [{ slug: artifact }], windowing: { order: 'ascending', limit: 200 } } },
    { enabled },
  )
  const environments = useEnvironments(enabled)
  const slugs = variants.data?.workflow_variants.map(({ slug }) => slug) ?? []
  const { data, error, isFetching } = useQuery({
    queryKey: ['versions', artifact, words, limit, slugs],
    queryFn: ({ signal }) => find(artifact, words, limit, slugs, signal),
    enabled: enabled && variants.data !== undefined,
    staleTime: 2000,
    placeholderData: keepPreviousData,
  })
  const ends: readonly End[] = [
    ...slugs.map((slug): End => ({ kind: 'variant', slug })),
    ...environments.filter((slug) => slug !== except).map((slug): End => ({ kind: 'environment', slug })),
  ]
  const named = ends
    .map((end) => ({ value: textOfEnd(end), label: nameOfPicked(end) }))
    .filter((it) => it.label.toLowerCase().includes(words.toLowerCase()))
  return (
    <Combobox
      label={label}
      shown={shown}
      placeholder="A version such as v3, or words of it"
      found={[...(data?.found ?? []), ...named].sort(words === '' ? namedFirst : () => 0)}
      none={error ? error.message : isFetching ? 'Searching …' : `No version has “${words}”.`}
      more={data?.hasMore ? () => setLimit(limit + VERSIONS_PER_PAGE) : undefined}
      onWords={(it) => {
        setTyped(it)
        setLimit(VERSIONS_PER_PAGE)
      }}
      choose={(value) => {
        const end = endOf(value)
        if (end) choose(end)
      }}
    />
  )
}

/** A choice that is not a single version, in words. */
export function nameOfPicked(end: End): string {
  return end.kind === 'variant' ? `the newest version of ${end.slug}` : nameOfEnd(end)
}

/** Variants and environments come before single versions. */
function namedFirst(left: ComboboxOption, right: ComboboxOption): number {
  return Number(left.value.startsWith('r:')) - Number(right.value.startsWith('r:'))
}

interface Found {
  readonly found: readonly ComboboxOption[]
  readonly hasMore: boolean
}

async function find(
  artifact: string,
  words: string,
  limit: number,
  variants: readonly string[],
  signal: AbortSignal,
): Promise<Found> {
  const { name, number } = /^(?<name>.*?)[\s-]*\bv?(?<number>\d{1,9})$/i.exec(words)?.groups ?? {}
  const asked =
    number === undefined ? [] : variants.filter((slug) => slug.includes(name ?? '')).slice(0, MOST_VARIANTS)
  const byNumber = await Promise.all(asked.map((slug) => versionOf(artifact, slug, Number(number), signal)))
  const { workflow_revisions: revisions, windowing } = await call(
    'POST /workflows/revisions/query',
    {
      body: {
        workflow_refs: [{ slug: artifact }],
        ...(words.length > 1 ? { workflow_revision: { text: `${words.replace(/\*+$/, '')}*` } } : {}),
        windowing: { limit, ...(words.length > 1 ? {} : { order: '-created' as const }) },
      },
    },
    signal,
  )
  const found = new Map(
    [...byNumber.flat(), ...revisions].map((it) => {
      const value = `r:${it.workflow_variant_slug}-${it.version}`
      return [value, { value, label: nameOfVersion(it), note: it.subject.slice(0, 120) }] as const
    }),
  )
  return { found: [...found.values()], hasMore: windowing?.next !== undefined }
}

type FoundVersion = Parameters<typeof nameOfVersion>[0] & { readonly subject: string }

/** The version of a variant, if it exists. */
async function versionOf(
  artifact: string,
  variant: string,
  version: number,
  signal: AbortSignal,
): Promise<readonly FoundVersion[]> {
  const body = {
    workflow_ref: { slug: artifact },
    workflow_variant_ref: { slug: variant },
    workflow_revision_ref: { version },
  }
  try {
    return [(await call('POST /workflows/revisions/retrieve', { body }, signal)).workflow_revision]
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return []
    throw error
  }
}

/** A version of a variant in words. */
export function nameOfVersion(revision: {
  readonly workflow_variant_slug: string
  readonly version: number | string
}): string {
  return `${revision.workflow_variant_slug} v${revision.version}`
}
