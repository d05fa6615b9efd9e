import { Link } from '@tanstack/react-router'
import { membersOf } from '../../api/json.ts'
import type { Revision } from '../../api/kinds.ts'
import { WorkflowChip, EnvironmentDot } from '../../parts/chips/chips.tsx'
import { type End, endOf, textOfEnd } from '../../parts/compare/ends.ts'
import { ContentView } from '../../parts/content/content.tsx'
import { versionsBehind } from '../../parts/deploy/use-deployments.ts'
import { nameOfPicked, RevisionField } from '../../parts/deploy/revision-field.tsx'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { Toggles } from '../../parts/tabs/tabs.tsx'
import { places } from '../../shell/places.ts'
import styles from './artifact.module.css'
import type { Shown, Variant } from './use-artifact.ts'

export interface PromptSectionProps {
  readonly slug: string
  /** What users call it: prompt, evaluator. */
  readonly word: string
  readonly main: Variant | undefined
  readonly shown: Shown
  readonly show: (end: End) => void
}

/** The content of one version, with a switch between what environments run, the newest, and any other version. */
export function PromptSection({ slug, word, main, shown, show }: PromptSectionProps) {
  const { end, revision, error, deployments, newest } = shown
  const value = end && textOfEnd(end)
  const title = `${word.charAt(0).toUpperCase()}${word.slice(1)}`
  const usual = [
    ...deployments.flatMap(({ environment: { slug: name }, revision: running }) =>
      running
        ? [{ value: textOfEnd({ kind: 'environment', slug: name }), label: `${name} v${running.version}` }]
        : [],
    ),
    ...(main
      ? [
          {
            value: textOfEnd({ kind: 'variant', slug: main.slug }),
            label: `Newest${newest === undefined ? '' : ` v${newest}`}`,
          },
        ]
      : []),
  ]
  const isUsual = usual.some((it) => it.value === value)
  const nameOfOther = end && (end.kind === 'revision' ? end.slug : nameOfPicked(end))
  const choices = isUsual || value === undefined ? usual : [...usual, { value, label: nameOfOther ?? value }]
  if (!end && !error) return main ? <Skeleton label={`Loading the ${word}`} lines={12} /> : null
  return (
    <section className={styles.prompt} aria-label={title}>
      <div className={styles.switch}>
        <Toggles
          label="Version shown"
          choices={choices}
          value={value ?? ''}
          onChange={(it) => {
            const to = endOf(it)
            if (to) show(to)
          }}
        />
        <div className={styles.other}>
          <RevisionField label="Other version" artifact={slug} shown="" choose={show} except={undefined} />
        </div>
      </div>
      {error && <Failure error={error} />}
      {!revision && !error && <Skeleton label={`Loading the ${word}`} lines={12} />}
      {revision && (
        <>
          <ShownVersion slug={slug} revision={revision} end={end} shown={shown} main={main} />
          <ContentView data={membersOf(revision.data)} isBrief />
        </>
      )}
    </section>
  )
}

interface ShownVersionProps {
  readonly slug: string
  readonly revision: Revision
  readonly end: End | undefined
  readonly shown: Shown
  readonly main: Variant | undefined
}

/** Which version it is, where it runs, and how far it is behind the newest. */
function ShownVersion({ slug, revision, end, shown: { deployments, newest }, main }: ShownVersionProps) {
  const isOfMain = revision.variant_slug === main?.slug
  const behind = isOfMain && newest !== undefined ? newest - Number(revision.version) : 0
  return (
    <p className={styles.shown}>
      <WorkflowChip artifact={slug} revision={revision} />
      {!isOfMain && <span>of {revision.variant_slug}</span>}
      {deployments
        .filter((it) => it.revision?.id === revision.id && it.environment.slug !== end?.slug)
        .map(({ environment }) => (
          <EnvironmentDot key={environment.slug} slug={environment.slug} />
        ))}
      {behind > 0 && (
        <Link
          to={places.compare(slug, `r:${revision.slug}`, `v:${main?.slug ?? ''}`)}
          className={styles.behind}
        >
          {versionsBehind(behind)}
        </Link>
      )}
      <bdi className={styles.subjectShown}>{revision.subject.slice(0, 300)}</bdi>
    </p>
  )
}
