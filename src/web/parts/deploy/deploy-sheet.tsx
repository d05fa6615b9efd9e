import { useState } from 'react'
import { Problem } from '../../api/problem.ts'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { useRefusal } from '../../shell/session.tsx'
import { Button } from '../button/button.tsx'
import { type End, endReferences, textOfEnd } from '../compare/ends.ts'
import { useEndChoices } from '../compare/use-end-choices.ts'
import { Modal } from '../dialog/modal.tsx'
import { LoadedRevisionDiff } from '../diff/revision-diff.tsx'
import { ChoiceField } from '../fields/choice-field.tsx'
import { TextField } from '../fields/text-field.tsx'
import { WorkflowChip } from '../revision-chip/workflow-chip.tsx'
import { Failure } from '../states/failure.tsx'
import { Skeleton } from '../states/skeleton.tsx'
import styles from './deploy-sheet.module.css'

export interface DeploySheetProps {
  /** The slug of what is deployed. */
  readonly artifact: string
  /** The slug of the environment. */
  readonly to: string
  /** The key under which it is deployed, where it is not the artifact's own. */
  readonly deployKey?: string | undefined
  /** What is deployed: a version, the head of a variant, or what another environment runs. */
  readonly what: End | undefined
  /** Another one was chosen. */
  readonly choose: (what: End) => void
  readonly close: () => void
}

/** What a deployment would change, and the button that does it: the difference stands before the button. */
export function DeploySheet({ artifact, to, deployKey, what, choose, close }: DeploySheetProps) {
  const [message, setMessage] = useState('')
  const choices = useEndChoices(artifact).filter(({ end }) => end.kind !== 'environment' || end.slug !== to)
  const end = what ?? choices[0]?.end
  const key = deployKey === undefined ? {} : { key: deployKey }
  const candidate = useRoute(
    'POST /workflows/revisions/retrieve',
    { body: end ? endReferences(end, artifact, 'workflow') : {} },
    { enabled: end !== undefined },
  )
  const running = useRoute('POST /workflows/revisions/retrieve', {
    body: { ...endReferences({ kind: 'environment', slug: to }, artifact, 'workflow'), ...key },
  })
  const { mutate, error, isPending } = useWrite('POST /workflows/revisions/deploy')
  const guard = useGuard(to)
  const next = candidate.data?.workflow_revision
  const now = running.data?.workflow_revision
  const isFirst = running.error instanceof Problem && running.error.status < 409
  const isThere = next !== undefined && next.id === now?.id
  const label = `Deploy ${next ? `v${next.version}` : ''} to ${to}`
  const refusal = guard ?? (isThere ? `v${next.version} runs in ${to} already.` : undefined)
  const deploy = (): void => {
    if (!next) return
    // The variant that was chosen: by its id alone a revision that several variants hold would be deployed as that of its home.
    const body = {
      workflow_variant_ref: { id: next.workflow_variant_id },
      workflow_revision_ref: { version: next.version },
      environment_ref: { slug: to },
      ...key,
    }
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
      title={`Deploy ${artifact} to ${to}`}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            kind="primary"
            refusal={next ? refusal : 'What is deployed is not known yet.'}
            busy={isPending}
            onClick={deploy}
          >
            {label}
          </Button>
        </>
      }
    >
      <div className={styles.choices}>
        {end && (
          <ChoiceField
            label="What is deployed"
            value={textOfEnd(end)}
            choices={withCurrent(choices, end).map((it) => ({ value: textOfEnd(it.end), label: it.label }))}
            onChange={(value) => {
              const chosen = choices.find((it) => textOfEnd(it.end) === value)
              if (chosen) choose(chosen.end)
            }}
          />
        )}
        <TextField label="Message" value={message} onChange={setMessage} placeholder="Why it is deployed" />
      </div>
      {refusal !== undefined && <p className={styles.refusal}>{refusal}</p>}
      {error && <Failure error={error} />}
      {candidate.error && <Failure error={candidate.error} />}
      {running.error && !isFirst && <Failure error={running.error} />}
      <p className={styles.change}>
        {now ? (
          <WorkflowChip artifact={artifact} revision={now} />
        ) : isFirst ? (
          `Nothing of ${artifact} runs in ${to} yet.`
        ) : null}
        {next && (
          <>
            <span aria-hidden>→</span> <WorkflowChip artifact={artifact} revision={next} />
          </>
        )}
      </p>
      {next && (now || isFirst)
        ? !isThere && <LoadedRevisionDiff base={now} head={next} />
        : !candidate.error && <Skeleton label="Loading what would change" lines={10} />}
    </Modal>
  )
}

/** A version that is no longer among the newest stays the one that is chosen. */
function withCurrent(choices: ReturnType<typeof useEndChoices>, end: End): ReturnType<typeof useEndChoices> {
  const isThere = choices.some((it) => textOfEnd(it.end) === textOfEnd(end))
  return isThere ? choices : [{ label: end.slug, end }, ...choices]
}

/** Why the key of the session may not deploy there; undefined if it may. */
export function useGuard(environment: string): string | undefined {
  const { data } = useRoute('POST /environments/query', { body: {} })
  const [lacksDeploy, lacksWrite] = [useRefusal('deploy'), useRefusal('write')]
  if (lacksDeploy === undefined) return undefined
  const isGuarded = data?.environments.find(({ slug }) => slug === environment)?.flags?.is_guarded === true
  return isGuarded ? `${environment} is guarded. ${lacksDeploy}` : lacksWrite
}
