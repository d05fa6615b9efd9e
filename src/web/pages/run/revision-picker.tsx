import { useRoute } from '../../api/use-route.ts'
import { ChoiceField } from '../../parts/fields/choice-field.tsx'
import styles from './run.module.css'

export interface RevisionPickerProps {
  readonly slug: string
  readonly variant: string
  /** Undefined for the latest one. */
  readonly version: number | undefined
  /** What the latest one is, as far as it is known. */
  readonly shown: number | undefined
  readonly pick: (variant: string, version: number | undefined) => void
}

/** Which revision runs: the latest of a variant, or one of its last hundred versions. */
export function RevisionPicker({ slug, variant, version, shown, pick }: RevisionPickerProps) {
  const variants = useRoute('POST /workflows/variants/query', { body: { workflow_refs: [{ slug }] } })
  const log = useRoute(
    'POST /workflows/revisions/log',
    { body: { workflow_ref: { slug }, workflow_variant_ref: { slug: variant }, windowing: { limit: 100 } } },
    { enabled: variant !== '' },
  )
  const revisions = log.data?.workflow_revisions ?? []
  const slugs = variants.data?.workflow_variants.map((it) => it.slug) ?? []
  const isListed = version === undefined || revisions.some((it) => Number(it.version) === version)
  return (
    <div className={styles.picker}>
      <ChoiceField
        label="Variant"
        value={variant}
        choices={[...new Set([variant, ...slugs])].map((value) => ({ value, label: value }))}
        onChange={(value) => pick(value, undefined)}
      />
      <ChoiceField
        label="Version"
        value={version === undefined ? '' : String(version)}
        choices={[
          { value: '', label: version === undefined && shown !== undefined ? `latest: v${shown}` : 'latest' },
          ...(isListed ? [] : [{ value: String(version), label: `v${version}` }]),
          ...revisions.map((it) => ({
            value: String(it.version),
            label: `v${it.version}  ${it.subject.slice(0, 60)}`,
          })),
        ]}
        onChange={(value) => pick(variant, value === '' ? undefined : Number(value))}
      />
    </div>
  )
}
