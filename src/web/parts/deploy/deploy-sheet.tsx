import { useState, useDeferredValue } from 'react'
import { type Answer, call, Problem } from '../../api/call.ts'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { useRefusal } from '../../shell/session.tsx'
import { Button } from '../button/button.tsx'
import { type End, endReferences, endOf, nameOfEnd, textOfEnd } from '../compare/ends.ts'
import { Modal } from '../dialog/dialog.tsx'
import { LoadedRevisionDiff } from '../diff/revision-diff.tsx'
import { ChoiceField, TextField } from '../fields/fields.tsx'
import { WorkflowChip } from '../chips/chips.tsx'
import { Failure, Skeleton } from '../states/states.tsx'
import styles from './deploy-sheet.module.css'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Combobox, type ComboboxOption } from '../combobox/combobox.tsx'

export interface DeploySheetProps {
  /** The slug of the artifact to deploy. */
  readonly artifact: string
  /** The slug of the environment; undefined until it is chosen. */
  readonly to: string | undefined
  /** The key of the deployment, if it is not the artifact's default one. */
  readonly deployKey?: string | undefined
  /** What is deployed: a version, the newest one of a variant, or what another environment runs; by default the newest one of the artifact. */
  readonly what: End | undefined
  /** Called with another version. */
  readonly choose: (what: End) => void
  /** Called with another environment. */
  readonly chooseTo: (to: string) => void
  readonly close: () => void
}

/** The sheet that deploys: it shows what would change, with the button that does it. */
export function DeploySheet(props: DeploySheetProps) {
  const { artifact, to, deployKey, what, choose, chooseTo, close } = props
  const [message, setMessage] = useState('')
  const key = deployKey === undefined ? {} : { key: deployKey }
  const environments = useRoute('POST /environments/query', { body: {} })
  const candidate = useRoute('POST /workflows/revisions/retrieve', {
    body: what ? endReferences(what, artifact, 'workflow') : { workflow_ref: { slug: artifact } },
  })
  const running = useRoute(
    'POST /workflows/revisions/retrieve',
    {
      body: { ...endReferences({ kind: 'environment', slug: to ?? '' }, artifact, 'workflow'), ...key },
    },
    { enabled: to !== undefined },
  )
  const { mutate, error, isPending } = useWrite('POST /workflows/revisions/deploy')
  const guard = useGuard(to)
  const next = candidate.data?.workflow_revision
  const now = to === undefined ? undefined : running.data?.workflow_revision
  const isFirst = to === undefined || (running.error instanceof Problem && running.error.status < 409)
  const isThere = next !== undefined && next.id === now?.id
  const name = next ? nameOfDeployed(artifact, next) : artifact
  const label = to === undefined ? `Deploy ${name}` : `Deploy ${name} to ${to}`
  const refusal =
    to === undefined
      ? 'Choose an environment.'
      : (guard ??
        (next?.deleted_at === undefined ? undefined : `v${next.version} is archived: bring it back first.`) ??
        (isThere ? `v${next.version} runs in ${to} already.` : undefined))
  const deploy = (): void => {
    if (!next || to === undefined) return
    const body = { ...referencesTo(next, what), environment_ref: { slug: to }, ...key }
    mutate(
      { body: { ...body, ...(message.trim() === '' ? {} : { message: message.trim() }) } },
      { onSuccess: close },
    )
  }
  return (
    <Modal
      open
      sheet
      close={close}
      title={label}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            kind="primary"
            refusal={next ? refusal : 'Still loading.'}
            busy={isPending}
            onClick={deploy}
          >
            {label}
          </Button>
        </>
      }
    >
      <div className={styles.choices}>
        <RevisionField
          label="Version"
          artifact={artifact}
          shown={
            what && what.kind !== 'revision'
              ? nameOfPicked(what)
              : next
                ? nameOfVersion(next)
                : (what?.slug ?? '')
          }
          choose={choose}
          except={to}
        />
        <ChoiceField
          label="Environment"
          value={to ?? ''}
          choices={[
            ...(to === undefined ? [{ value: '', label: 'Choose an environment' }] : []),
            ...(environments.data?.environments.map(({ slug }) => ({ value: slug, label: slug })) ??
              (to === undefined ? [] : [{ value: to, label: to }])),
          ]}
          onChange={(slug) => slug !== '' && chooseTo(slug)}
        />
        <TextField label="Message" value={message} onChange={setMessage} placeholder="Why it is deployed" />
      </div>
      {to !== undefined && refusal !== undefined && <p className={styles.refusal}>{refusal}</p>}
      {error && <Failure error={error} />}
      {candidate.error && <Failure error={candidate.error} />}
      {running.error && !isFirst && <Failure error={running.error} />}
      <p className={styles.change}>
        {now ? (
          <WorkflowChip artifact={artifact} revision={now} />
        ) : isFirst && to !== undefined ? (
          `${artifact} is not deployed to ${to} yet.`
        ) : null}
        {next && (
          <>
            {to !== undefined && <span aria-hidden>→</span>}{' '}
            <WorkflowChip artifact={artifact} revision={next} />
          </>
        )}
      </p>
      {next && (now || isFirst)
        ? !isThere && <LoadedRevisionDiff base={now} head={next} />
        : !candidate.error && <Skeleton label="Loading what would change" lines={10} />}
    </Modal>
  )
}

/** `support-bot v3`; if the variant is not named like the artifact, `support-bot v3 of warmer`. */
function nameOfDeployed(
  artifact: string,
  { version, workflow_variant_slug: variant }: Pick<Deployed, 'version' | 'workflow_variant_slug'>,
): string {
  return `${artifact} v${version}${variant === artifact ? '' : ` of ${variant}`}`
}

type Deployed = Answer<'POST /workflows/revisions/retrieve'>['workflow_revision']

/**
 * References that deploy the revision as a version of the variant it was found in: by id alone, it would be one of its original variant. A revision
 * chosen by its own slug may be on no variant, and is named by id.
 */
function referencesTo(revision: Deployed, what: End | undefined) {
  const { id, version, workflow_variant_slug: variant, workflow_variant_id: variantId } = revision
  if (what?.kind === 'revision' && what.slug !== `${variant}-${version}`)
    return { workflow_revision_ref: { id } }
  return { workflow_variant_ref: { id: variantId }, workflow_revision_ref: { version } }
}

/** Why the session's key may not deploy there; undefined if it may. */
export function useGuard(environment: string | undefined): string | undefined {
  const { data } = useRoute('POST /environments/query', { body: {} })
  const [lacksDeploy, lacksWrite] = [useRefusal('deploy'), useRefusal('write')]
  if (lacksDeploy === undefined) return undefined
  const isGuarded = data?.environments.find(({ slug }) => slug === environment)?.flags?.is_guarded === true
  return isGuarded ? `${environment} is guarded. ${lacksDeploy}` : lacksWrite
}

interface RevisionFieldProps {
  readonly label: string
  /** The slug of the artifact. */
  readonly artifact: string
  /** The selected version, in words. */
  readonly shown: string
  readonly choose: (end: End) => void
  /** The target environment, which is not offered. */
  readonly except: string | undefined
}

const VERSIONS_PER_PAGE = 25
/** A version number is looked up in at most this many variants. */
const MOST_VARIANTS = 20

/**
 * A field for a version of an artifact. Without words it lists the newest version of each variant, the environments, and all versions, newest
 * first; `v3` or `warmer v3` finds a version by number, other words by its texts and message.
 */
function RevisionField({ label, artifact, shown, choose, except }: RevisionFieldProps) {
  const [typed, setTyped] = useState<string>()
  const [limit, setLimit] = useState(VERSIONS_PER_PAGE)
  const words = useDeferredValue((typed ?? '').trim())
  const enabled = typed !== undefined
  const variants = useRoute(
    'POST /workflows/variants/query',
    { body: { workflow_refs: [{ slug: artifact }], windowing: { order: 'ascending', limit: 200 } } },
    { enabled },
  )
  const project = useRoute('GET /projects/current', {})
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
    ...(project.data?.project.environments ?? [])
      .filter((slug) => slug !== except)
      .map((slug): End => ({ kind: 'environment', slug })),
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
function nameOfPicked(end: End): string {
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
function nameOfVersion(revision: {
  readonly workflow_variant_slug: string
  readonly version: number | string
}): string {
  return `${revision.workflow_variant_slug} v${revision.version}`
}
