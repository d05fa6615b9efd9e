import { useState } from 'react'
import { type Answer, Problem } from '../../api/call.ts'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { announce } from '../../shell/announcements.tsx'
import { useRefusal } from '../../shell/session.tsx'
import { Button } from '../button/button.tsx'
import { type End, endReferences } from '../compare/ends.ts'
import { Modal } from '../dialog/dialog.tsx'
import { LoadedRevisionDiff } from '../diff/revision-diff.tsx'
import { ChoiceField, TextField } from '../fields/fields.tsx'
import { WorkflowChip } from '../chips/chips.tsx'
import { Failure, Skeleton } from '../states/states.tsx'
import styles from './deploy-sheet.module.css'
import { nameOfPicked, nameOfVersion, RevisionField } from './revision-field.tsx'

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
      {
        onSuccess: () => {
          close()
          announce(`${name} now runs in ${to}.`)
        },
      },
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
      {to !== undefined && refusal !== undefined && <p className={`notice ${styles.refusal}`}>{refusal}</p>}
      {error && <Failure error={error} />}
      {candidate.error && <Failure error={candidate.error} />}
      {running.error && !isFirst && <Failure error={running.error} />}
      <p className="row gap-below">
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
      {to === undefined ? (
        <p className="muted-small">Choose an environment to see what would change there.</p>
      ) : next && (now || isFirst) ? (
        !isThere && <LoadedRevisionDiff base={now} head={next} />
      ) : (
        !candidate.error && <Skeleton label="Loading what would change" lines={10} />
      )}
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
  return isGuarded ? `${environment} is protected. ${lacksDeploy}` : lacksWrite
}
