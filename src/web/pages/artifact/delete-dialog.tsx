import { useNavigate } from '@tanstack/react-router'
import { Problem } from '../../api/problem.ts'
import { useWrite } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import styles from './artifact.module.css'
import { type Artifact, artifactKind } from '../../api/artifact-kind.ts'
import { Users } from './users.tsx'

/** Moves the artifact to the trash, if nothing needs it; says what does. */
export function DeleteDialog({
  artifact,
  close,
}: {
  readonly artifact: Artifact
  readonly close: () => void
}) {
  const { slug } = artifact
  const { word, list } = artifactKind(artifact)
  const navigate = useNavigate()
  const remove = useWrite('DELETE /simple/workflows/{id}')
  const users = remove.error instanceof Problem ? remove.error.document['users'] : undefined
  return (
    <Modal
      open
      close={close}
      title={`Delete ${slug}`}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            kind="danger"
            needs="write"
            busy={remove.isPending}
            onClick={() =>
              remove.mutate(
                { path: { id: artifact.id } },
                { onSuccess: () => void navigate({ to: '/', search: { kind: list } as never }) },
              )
            }
          >
            Delete {slug}
          </Button>
        </>
      }
    >
      <p>
        The {word} and its history go to the trash whole, and come back exactly for 30 days. Only what nothing
        refers to can be deleted; archiving hides it and keeps what refers to it working.
      </p>
      {remove.error && <Failure error={remove.error} />}
      {Array.isArray(users) && (
        <ul className={styles.users}>
          <Users users={users} />
        </ul>
      )}
    </Modal>
  )
}
