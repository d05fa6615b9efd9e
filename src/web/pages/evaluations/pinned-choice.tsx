import { useRoute } from '../../api/use-route.ts'
import { ArtifactPicker } from '../../parts/artifact-picker/artifact-picker.tsx'
import { ChoiceField } from '../../parts/fields/choice-field.tsx'
import type { Pinned } from './pinned.ts'

export interface PinnedChoiceProps {
  readonly legend: string
  readonly label: string
  readonly family: 'application' | 'testset'
  readonly value: Pinned
  readonly onChange: (value: Pinned) => void
  readonly autoFocus?: boolean
}

/** So many of the newest versions can be chosen; an older one is reached from its own page. */
const VERSIONS = 100

/** An artifact, one of its variants, and one of its versions or whatever is newest when it begins. */
export function PinnedChoice({
  legend,
  label,
  family,
  value,
  onChange,
  autoFocus = false,
}: PinnedChoiceProps) {
  const { slug, variant, version } = value
  const { variants, versions } = useVersions(family, value)
  const newest = versions[0]
  return (
    <fieldset>
      <legend>{legend}</legend>
      <ArtifactPicker
        label={label}
        family={family}
        value={slug}
        placeholder="Search by name"
        autoFocus={autoFocus}
        onChange={(to) => onChange({ slug: to, variant: '', version: '' })}
      />
      <ChoiceField
        label="Variant"
        value={variant}
        choices={[
          { value: '', label: 'default' },
          ...variants.map((it) => ({ value: it.slug, label: it.slug })),
        ]}
        onChange={(to) => onChange({ slug, variant: to, version: '' })}
      />
      <ChoiceField
        label="Version"
        value={version}
        choices={[
          { value: '', label: newest ? `newest (v${newest.version})` : 'newest' },
          ...versions.map((it) => ({
            value: String(it.version),
            label: `v${it.version} ${it.subject}`.slice(0, 80),
          })),
        ]}
        onChange={(to) => onChange({ slug, variant, version: to })}
      />
    </fieldset>
  )
}

/** The variants of what is chosen, and the newest versions of the chosen one. */
function useVersions(family: 'application' | 'testset', { slug, variant }: Pinned) {
  const isChosen = slug !== ''
  const ofPrompt = { enabled: isChosen && family === 'application' }
  const ofTestset = { enabled: isChosen && family === 'testset' }
  const windowing = { limit: VERSIONS, order: 'descending' as const }
  const named = variant === '' ? undefined : { slug: variant }
  const prompts = useRoute(
    'POST /applications/variants/query',
    { body: { application_refs: [{ slug }], windowing: { limit: VERSIONS } } },
    ofPrompt,
  )
  const testsets = useRoute(
    'POST /testsets/variants/query',
    { body: { testset_refs: [{ slug }], windowing: { limit: VERSIONS } } },
    ofTestset,
  )
  const promptLog = useRoute(
    'POST /applications/revisions/log',
    { body: { application_ref: { slug }, ...(named && { application_variant_ref: named }), windowing } },
    ofPrompt,
  )
  const testsetLog = useRoute(
    'POST /testsets/revisions/log',
    {
      body: {
        testset_ref: { slug },
        ...(named && { testset_variant_ref: named }),
        include_testcase_ids: false,
        windowing,
      },
    },
    ofTestset,
  )
  return family === 'application'
    ? {
        variants: prompts.data?.application_variants ?? [],
        versions: promptLog.data?.application_revisions ?? [],
      }
    : {
        variants: testsets.data?.testset_variants ?? [],
        versions: testsetLog.data?.testset_revisions ?? [],
      }
}
