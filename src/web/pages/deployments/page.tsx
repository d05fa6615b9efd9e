import { useDeferredValue, useState } from 'react'
import { ArchivedToggle } from '../../parts/archive/archive.tsx'
import { Button } from '../../parts/button/button.tsx'
import { ApiLines, curlOf, deployCommand } from '../../parts/copy/api-lines.tsx'
import { endOf, textOfEnd } from '../../parts/compare/ends.ts'
import { DeploySheet, useGuard } from '../../parts/deploy/deploy-sheet.tsx'
import { Page } from '../../parts/page/page.tsx'
import { Empty, Failure, Skeleton } from '../../parts/states/states.tsx'
import { useAddress, useChangeAddress } from '../../shell/places.ts'
import { Board } from './board.tsx'
import styles from './deployments.module.css'
import { useBoard } from './use-board.ts'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { FormDialog, Modal } from '../../parts/dialog/dialog.tsx'
import { TextField } from '../../parts/fields/fields.tsx'
import { NameAndId, useNamed } from '../../parts/fields/name-and-id.tsx'

/**
 * The deployments: artifacts as rows, environments as columns. `?q=` filters, `?artifact=` puts one first, `?archived=` shows archived
 * environments; `?deploy=`, `?to=` and `?what=` open the sheet that deploys, `?down=` and `?to=` the dialog that takes down.
 */
export default function DeploymentsPage() {
  const { q = '', artifact, deploy, to, what, key, down, archived } = useAddress()
  const [words, setWords] = useState(q)
  const asked = useDeferredValue(words.trim())
  const [isPicking, setPicking] = useState(false)
  const [isMaking, setMaking] = useState(false)
  // A picker only asks; what shows first what would change may be opened by anybody.
  const mayNotDeploy = useGuard(undefined)
  const board = useBoard(asked, artifact, archived !== undefined)
  const show = useChangeAddress()
  const nothing = { deploy: undefined, to: undefined, what: undefined, key: undefined, down: undefined }
  const isEmpty = board.rows.length === 0 && !board.isPending && !board.error
  return (
    <Page
      crumbs={[{ label: 'Home', to: '/' }, { label: 'Deployments' }]}
      fills
      actions={
        <>
          <Button needs="write" onClick={() => setMaking(true)}>
            New environment…
          </Button>
          <Button kind="primary" refusal={mayNotDeploy} onClick={() => setPicking(true)}>
            Deploy…
          </Button>
        </>
      }
    >
      <div className={styles.filter}>
        <input
          className="control"
          type="search"
          dir="auto"
          aria-label="Show prompts whose name has"
          placeholder="Filter by name"
          value={words}
          onChange={({ target: { value } }) => {
            setWords(value)
            show({ q: value === '' ? undefined : value }, true)
          }}
        />
        <ArchivedToggle
          isOn={archived !== undefined}
          onChange={(isOn) => show({ archived: isOn ? '1' : undefined }, true)}
        />
      </div>
      {board.error && <Failure error={board.error} retry={board.refetch} />}
      {board.isPending && <Skeleton label="Loading the deployments" lines={10} />}
      {isEmpty && asked !== '' && <p role="status">No deployment matches “{asked}”.</p>}
      {isEmpty && asked === '' && (
        <Empty
          action={
            <Button refusal={mayNotDeploy} onClick={() => setPicking(true)}>
              Deploy a prompt
            </Button>
          }
        >
          Nothing is deployed yet. An environment, such as production, gives your programs one chosen version
          of each prompt.
        </Empty>
      )}
      {board.rows.length > 0 && board.environments && (
        <Board
          rows={board.rows}
          environments={board.environments}
          hasMore={board.hasMore}
          loadMore={board.loadMore}
          deploy={(it) =>
            show({
              ...nothing,
              deploy: it.artifact,
              to: it.to,
              what: it.what && textOfEnd(it.what),
              key: it.key,
            })
          }
          takeDown={(it) => show({ ...nothing, down: it.key, to: it.to })}
        />
      )}
      <ApiLines
        lines={[
          { label: 'What this page shows', text: curlOf('/deployments/query', {}) },
          { label: 'Deploy a version', text: deployCommand('production') },
        ]}
      />
      {isMaking && <NewEnvironment close={() => setMaking(false)} />}
      {deploy !== undefined && (
        <DeploySheet
          artifact={deploy}
          to={to}
          deployKey={key}
          what={what === undefined ? undefined : endOf(what)}
          choose={(end) => show({ what: textOfEnd(end) }, true)}
          chooseTo={(slug) => show({ to: slug }, true)}
          close={() => show(nothing)}
        />
      )}
      {down !== undefined && to !== undefined && (
        <TakeDown deployKey={down} from={to} close={() => show(nothing)} />
      )}
      {isPicking && (
        <DeployPicker
          close={() => setPicking(false)}
          choose={(slug) => {
            setPicking(false)
            show({ ...nothing, artifact: slug, deploy: slug })
          }}
        />
      )}
    </Page>
  )
}

interface DeployPickerProps {
  readonly choose: (slug: string) => void
  readonly close: () => void
}

const MOST = 30

/** Chooses a prompt to deploy, which becomes the first row of the board. */
function DeployPicker({ choose, close }: DeployPickerProps) {
  const [words, setWords] = useState('')
  const asked = useDeferredValue(words.trim())
  const { data, error } = useRoute(
    'POST /workflows/query',
    {
      body: {
        ...(asked.length > 1 ? { workflow: { text: `${asked}*` } } : {}),
        windowing: { order: '-updated', limit: MOST },
      },
    },
    { keepPrevious: true },
  )
  return (
    <Modal open close={close} title="Choose a prompt">
      <TextField
        label="Name"
        value={words}
        onChange={setWords}
        autoFocus
        placeholder="Words of the prompt's name"
      />
      {error && <Failure error={error} />}
      <ul className={styles.picker}>
        {data?.workflows.map(({ slug, name }) => (
          <li key={slug}>
            <button type="button" onClick={() => choose(slug)}>
              <bdi>{name ?? slug}</bdi> {name !== undefined && <code>{slug}</code>}
            </button>
          </li>
        ))}
      </ul>
      {data?.workflows.length === 0 && <p role="status">No prompts match.</p>}
    </Modal>
  )
}

/** Makes an environment, which is a column of the board at once. */
function NewEnvironment({ close }: { readonly close: () => void }) {
  const named = useNamed('', 'environments')
  const { mutateAsync } = useWrite('POST /simple/environments')
  const create = (): Promise<unknown> =>
    mutateAsync({ body: { environment: { slug: named.id, name: named.name } } })
  return (
    <FormDialog
      title="New environment"
      action={named.id === '' ? 'Create the environment' : `Create ${named.id}`}
      needs="write"
      refusal={named.refusal}
      submit={create}
      close={close}
    >
      {(problemOf) => (
        <>
          <p>Programs that ask for this environment get the versions that you deploy to it.</p>
          <NameAndId named={named} problem={problemOf('slug')} placeholder="Such as QA" />
        </>
      )}
    </FormDialog>
  )
}

interface TakeDownProps {
  readonly deployKey: string
  /** The slug of the environment. */
  readonly from: string
  readonly close: () => void
}

/** Asks before something is taken down: clients will get a 404. */
function TakeDown({ deployKey, from, close }: TakeDownProps) {
  const [message, setMessage] = useState('')
  const guard = useGuard(from)
  const { mutateAsync } = useWrite('POST /environments/revisions/commit')
  const takeDown = (): Promise<unknown> =>
    mutateAsync({
      body: {
        environment_revision_commit: {
          environment_ref: { slug: from },
          message: message.trim() === '' ? `Take down ${deployKey}` : message.trim(),
          delta: { remove: [deployKey] },
        },
      },
    })
  return (
    <FormDialog
      title={`Take ${deployKey} down from ${from}`}
      action="Take it down"
      kind="danger"
      refusal={guard}
      submit={takeDown}
      close={close}
    >
      <p>
        Clients that ask {from} for <code>{deployKey}</code> will get an error (404). You can deploy it again.
      </p>
      <TextField
        label="Message"
        value={message}
        onChange={setMessage}
        placeholder={`Take down ${deployKey}`}
      />
      {guard !== undefined && <p>{guard}</p>}
    </FormDialog>
  )
}
