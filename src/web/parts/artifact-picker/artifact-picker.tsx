import { useDeferredValue, useState } from 'react'
import { Combobox } from '../combobox/combobox.tsx'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'

export interface ArtifactPickerProps {
  readonly label: string
  readonly family: PickedFamily
  /** The selected slug, or ''. */
  readonly value: string
  readonly onChange: (slug: string) => void
  readonly placeholder?: string
  readonly autoFocus?: boolean
}

/** A field for an artifact's slug that searches while the user types. */
export function ArtifactPicker({ family, value, onChange, ...rest }: ArtifactPickerProps) {
  const [typed, setTyped] = useState<string>()
  const words = useDeferredValue((typed ?? '').trim())
  const { found, error, isFetching } = useFoundArtifacts(family, words, typed !== undefined)
  return (
    <Combobox
      {...rest}
      shown={value}
      found={namedFirst(found, words).map(({ slug, name }) => ({
        value: slug,
        label: name ?? slug,
        note: name !== undefined && name !== slug ? slug : undefined,
      }))}
      none={
        error ? error.message : isFetching ? 'Searching …' : `Nothing has “${words}” in its name or text.`
      }
      onWords={setTyped}
      choose={onChange}
      clear={() => onChange('')}
    />
  )
}

/** The families to choose from. */
type PickedFamily = 'application' | 'evaluator' | 'testset'

/** An artifact as a picker offers it. */
interface FoundArtifact {
  readonly slug: string
  readonly name?: string
}

const MOST = 12

/** The artifacts of a family that match the words; without words, the last edited ones. */
function useFoundArtifacts(family: PickedFamily, words: string, enabled: boolean) {
  const { data, error, isFetching } = useQuery({
    queryKey: ['picker', family, words],
    queryFn: ({ signal }) => find(family, words, signal),
    enabled,
    staleTime: 2000,
    placeholderData: keepPreviousData,
  })
  return { found: data ?? NONE, error, isFetching }
}

const NONE: readonly FoundArtifact[] = []

/** What is called exactly so comes first, since Enter takes it: the server also finds words in texts and messages. */
function namedFirst(found: readonly FoundArtifact[], words: string): readonly FoundArtifact[] {
  const wanted = words.toLowerCase()
  const isCalledSo = ({ slug, name }: FoundArtifact): boolean =>
    slug.toLowerCase() === wanted || name?.toLowerCase() === wanted
  return found.toSorted((one, other) => Number(isCalledSo(other)) - Number(isCalledSo(one)))
}

async function find(
  family: PickedFamily,
  words: string,
  signal: AbortSignal,
): Promise<readonly FoundArtifact[]> {
  const filter = words.length > 1 ? { text: `${words.replace(/\*+$/, '')}*` } : {}
  const windowing = { limit: MOST, ...(words.length > 1 ? {} : { order: '-updated' as const }) }
  switch (family) {
    case 'testset': {
      const body = { testset: filter, windowing, include_testcases: false }
      return (await call('POST /simple/testsets/query', { body }, signal)).testsets
    }
    case 'evaluator':
      return (await call('POST /simple/evaluators/query', { body: { evaluator: filter, windowing } }, signal))
        .evaluators
    default:
      return (
        await call('POST /simple/applications/query', { body: { application: filter, windowing } }, signal)
      ).applications
  }
}
