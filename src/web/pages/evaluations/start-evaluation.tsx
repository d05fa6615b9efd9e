import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite, useRoute } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/dialog.tsx'
import { TextField, ChoiceField } from '../../parts/fields/fields.tsx'
import { Failure } from '../../parts/states/states.tsx'
import { places } from '../../shell/places.ts'
import styles from './evaluations.module.css'
import { X } from 'lucide-react'
import { ArtifactPicker } from '../../parts/artifact-picker/artifact-picker.tsx'

export interface StartEvaluationProps {
  /** The choices in the address: `prompt`, `variant`, `version`, `testset`, `evaluators`. */
  readonly search: Readonly<Record<string, string | undefined>>
  readonly close: () => void
}

/** The limit of the interface. */
const MAX_CONCURRENCY = 64

/** The form that starts an evaluation, and then opens its page. */
export function StartEvaluation({ search, close }: StartEvaluationProps) {
  const { prompt: named = '', variant = '', version = '', testset = '', evaluators = '' } = search
  const [prompt, setPrompt] = useState<Pinned>({ slug: named, variant, version })
  const [rows, setRows] = useState<Pinned>({ slug: testset, variant: '', version: '' })
  const [judges, setJudges] = useState<readonly string[]>(evaluators.split(',').filter(Boolean))
  const [concurrency, setConcurrency] = useState('4')
  const { mutateAsync, error, isPending } = useWrite('POST /evaluations/run')
  const navigate = useNavigate()
  const atOnce = Number(concurrency)
  const isCount = Number.isInteger(atOnce) && atOnce >= 1 && atOnce <= MAX_CONCURRENCY
  const refusal =
    prompt.slug === ''
      ? 'Choose a prompt first.'
      : rows.slug === ''
        ? 'Choose a testset first.'
        : isCount
          ? undefined
          : 'Rows at once is not a number that can be used.'

  async function start(): Promise<void> {
    const { evaluation } = await mutateAsync({
      body: {
        ...pinnedReferences('application', prompt),
        ...pinnedReferences('testset', rows),
        evaluator_refs: judges.map((slug) => ({ slug })),
        concurrency: atOnce,
        wait: false,
      },
    })
    await navigate({ to: places.evaluation(evaluation.id) })
  }

  return (
    <Modal
      open
      close={close}
      title="Start an evaluation"
      sheet
      actions={
        <Button
          kind="primary"
          needs="invoke"
          refusal={refusal}
          busy={isPending}
          onClick={() => void start().catch(() => undefined)}
        >
          {isPending ? 'Starting …' : 'Start the evaluation'}
        </Button>
      }
    >
      <div className={styles.form}>
        {error !== null && <Failure error={error} />}
        <PinnedChoice
          legend="What is run"
          label="Prompt"
          family="application"
          value={prompt}
          onChange={setPrompt}
          autoFocus
        />
        <PinnedChoice
          legend="On which rows"
          label="Testset"
          family="testset"
          value={rows}
          onChange={setRows}
        />
        <EvaluatorsChoice value={judges} onChange={setJudges} />
        <fieldset>
          <legend>How fast</legend>
          <TextField
            label="Rows at once"
            type="number"
            min={1}
            max={MAX_CONCURRENCY}
            value={concurrency}
            onChange={setConcurrency}
            hint="How many rows are run at the same time. A provider that limits requests wants a small number."
            problem={isCount ? undefined : `A whole number from 1 to ${MAX_CONCURRENCY}.`}
          />
        </fieldset>
      </div>
    </Modal>
  )
}

interface EvaluatorsChoiceProps {
  readonly value: readonly string[]
  readonly onChange: (value: readonly string[]) => void
}

/** The evaluators, each in its newest version. */
function EvaluatorsChoice({ value, onChange }: EvaluatorsChoiceProps) {
  return (
    <fieldset>
      <legend>Evaluators</legend>
      <ArtifactPicker
        label="Add an evaluator"
        family="evaluator"
        value=""
        placeholder="Search by name"
        onChange={(slug) => slug !== '' && !value.includes(slug) && onChange([...value, slug])}
      />
      <div className={styles.picked}>
        {value.map((slug) => (
          <button
            key={slug}
            type="button"
            aria-label={`Leave out ${slug}`}
            onClick={() => onChange(value.filter((it) => it !== slug))}
          >
            {slug}
            <X size={14} aria-hidden />
          </button>
        ))}
        {value.length === 0 && <p className="muted">Without one, outputs are kept and nothing is judged.</p>}
      </div>
    </fieldset>
  )
}

interface PinnedChoiceProps {
  readonly legend: string
  readonly label: string
  readonly family: 'application' | 'testset'
  readonly value: Pinned
  readonly onChange: (value: Pinned) => void
  readonly autoFocus?: boolean
}

/** Older versions are started from their own page. */
const NEWEST_VERSIONS_OFFERED = 100

/** An artifact with a variant and a version, or the newest one. */
function PinnedChoice({ legend, label, family, value, onChange, autoFocus = false }: PinnedChoiceProps) {
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

/** The variants of the artifact, and the newest versions of the chosen one. */
function useVersions(family: 'application' | 'testset', { slug, variant }: Pinned) {
  const isChosen = { enabled: slug !== '' }
  // Both families are asked and answered in the same way, in their own words.
  const variants = useRoute(
    `POST /${family}s/variants/query` as 'POST /applications/variants/query',
    { body: { [`${family}_refs`]: [{ slug }], windowing: { limit: NEWEST_VERSIONS_OFFERED } } },
    isChosen,
  )
  const log = useRoute(
    `POST /${family}s/revisions/log` as 'POST /applications/revisions/log',
    {
      body: {
        [`${family}_ref`]: { slug },
        ...(variant === '' ? {} : { [`${family}_variant_ref`]: { slug: variant } }),
        ...(family === 'testset' ? { include_testcase_ids: false } : {}),
        windowing: { limit: NEWEST_VERSIONS_OFFERED, order: 'descending' },
      },
    },
    isChosen,
  )
  return {
    variants: variants.data?.[`${family}_variants` as 'application_variants'] ?? [],
    versions: log.data?.[`${family}_revisions` as 'application_revisions'] ?? [],
  }
}

/** An artifact, a variant and a version; '' means the server's default (default variant, newest version). */
interface Pinned {
  readonly slug: string
  readonly variant: string
  readonly version: string
}

/** The references to it in a request. */
function pinnedReferences(
  family: 'application' | 'testset',
  { slug, variant, version }: Pinned,
): Readonly<Record<string, object>> {
  return {
    [`${family}_ref`]: { slug },
    ...(variant === '' ? {} : { [`${family}_variant_ref`]: { slug: variant } }),
    ...(version === ''
      ? {}
      : { [`${family}_revision_ref`]: { slug: variant || slug, version: Number(version) } }),
  }
}
