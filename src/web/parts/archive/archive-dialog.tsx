import { useRoute, useWrite } from '../../api/use-route.ts'
import { Button } from '../button/button.tsx'
import { Modal } from '../dialog/modal.tsx'
import { EnvironmentDot } from '../environment/environment-dot.tsx'
import { Failure } from '../states/failure.tsx'
import { Skeleton } from '../states/skeleton.tsx'
import { type Archivable, archiveRoute, fullNameOf, shortNameOf } from './archivable.ts'
import styles from './archive.module.css'

/** Asks before something is archived, and says what that hides and what of it runs. */
export function ArchiveDialog({ it, close }: { readonly it: Archivable; readonly close: () => void }) {
  const { mutate, isPending, error } = useWrite(archiveRoute(it, 'archive'))
  const name = shortNameOf(it)
  return (
    <Modal
      open
      close={close}
      title={`Archive ${fullNameOf(it)}?`}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            kind="danger"
            needs="write"
            busy={isPending}
            onClick={() => mutate({ path: { id: it.id } }, { onSuccess: close })}
          >
            Archive {name}
          </Button>
        </>
      }
    >
      {error && <Failure error={error} />}
      <p className={styles.text}>{whatItHides(it)}</p>
      {it.family === 'environments' ? <RunningThere slug={it.artifact} /> : <Running it={it} />}
      <p>Nothing is deleted: links and clones keep working, and it can be brought back at any time.</p>
    </Modal>
  )
}

function whatItHides({ level, family, word, artifact, variant = '', version = 0 }: Archivable): string {
  if (family === 'environments') {
    return `${artifact} leaves lists, menus, search and the board of deployments. Until it is brought back, nobody can deploy to it or take something down from it.`
  }
  switch (level) {
    case 'artifact':
      return `${artifact} leaves lists, menus and search, with all of its variants and versions. Until it is brought back, nobody can save a version of the ${word} or deploy one.`
    case 'variant':
      return `${variant} leaves lists and menus, and search no longer finds the versions that only ${variant} has. Until it is brought back, nobody can save a version of it or deploy one. ${artifact} and its other variants stay.`
    case 'revision':
      return `Only v${version} leaves lists and search, and cannot be deployed; ${artifact} and its other versions stay. If v${version} is the newest version of ${variant}, the one before it is the newest then.`
  }
}

const MAX_DEPLOYMENTS_NAMED = 10

/** What the environment runs, which clients go on being answered. */
function RunningThere({ slug }: { readonly slug: string }) {
  const { data, error } = useRoute('POST /deployments/query', {
    body: { deployment: { environment_ref: { slug } }, windowing: { limit: MAX_DEPLOYMENTS_NAMED } },
  })
  if (error) return <Failure error={error} />
  if (!data) return <Skeleton label="Looking for what runs" lines={2} />
  if (data.deployments.length === 0) return <p className={styles.text}>Nothing runs in it.</p>
  return (
    <>
      <p>Clients that ask {slug} go on being answered with what it runs:</p>
      <ul className={styles.runs}>
        {data.deployments.map(({ key, artifact, revision }) => (
          <li key={key}>
            {artifact?.slug ?? key} {revision && `v${revision.version}`}
          </li>
        ))}
        {data.windowing?.next !== undefined && <li>and more</li>}
      </ul>
    </>
  )
}

/** What of it runs, and goes on running. */
function Running({ it }: { readonly it: Archivable }) {
  const { data, error } = useRoute('POST /deployments/query', {
    body: { deployment: { artifact_slug: it.artifact } },
  })
  if (error) return <Failure error={error} />
  if (!data) return <Skeleton label="Looking for what runs" lines={2} />
  const running = data.deployments.filter((deployment) => deployment[it.level]?.id === it.id)
  if (running.length === 0) return <p className={styles.text}>No environment runs it.</p>
  return (
    <>
      <p>What is deployed goes on running:</p>
      <ul className={styles.runs}>
        {running.map(({ key, environment, revision }) => (
          <li key={`${environment.slug} ${key}`}>
            <EnvironmentDot slug={environment.slug} /> runs v{revision?.version}
          </li>
        ))}
      </ul>
    </>
  )
}
