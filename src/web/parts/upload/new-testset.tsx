import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Problem } from '../../api/call.ts'
import { useUpload } from '../../api/upload.ts'
import { places } from '../../shell/places.ts'
import { Button } from '../button/button.tsx'
import { Modal } from '../dialog/dialog.tsx'
import { TextField } from '../fields/fields.tsx'
import { FileDrop, chosen, fieldsOf, FileFields, UploadShown } from './upload.tsx'

interface NewTestsetProps {
  /** A dropped file, if any. */
  readonly file?: File | undefined
  readonly close: () => void
}

/** Creates a testset from a file, and opens it. */
export function NewTestset({ file, close }: NewTestsetProps) {
  const [picked, setPicked] = useState(() => file && chosen(file))
  const [typed, setTyped] = useState<string>()
  const { state, start, cancel, reset } = useUpload('POST /simple/testsets/upload')
  const navigate = useNavigate()
  const slug = typed ?? (picked ? slugOf(picked.file.name) : '')
  const isBusy = state.at === 'sending'
  const problem = state.at === 'failed' ? problemOfSlug(state.error) : undefined

  async function send(): Promise<void> {
    if (!picked) return
    const answer = await start({
      file: picked.file,
      fields: {
        ...fieldsOf(picked),
        testset_slug: slug,
        testset_name: picked.file.name.replace(/\.\w+$/, ''),
      },
    })
    if (!answer) return
    close()
    await navigate({ to: places.testset(answer.testset.slug) })
  }

  return (
    <Modal
      open
      close={close}
      title="New testset from a file"
      actions={
        <>
          {isBusy ? <Button onClick={cancel}>Stop</Button> : <Button onClick={close}>Cancel</Button>}
          <Button
            kind="primary"
            needs="write"
            busy={isBusy}
            refusal={!picked ? 'Choose a file first.' : slug === '' ? 'Give it an ID first.' : undefined}
            onClick={() => void send()}
          >
            Make the testset
          </Button>
        </>
      }
    >
      <FileDrop label="Drop the file" drop={(dropped) => setPicked(chosen(dropped))}>
        <FileFields value={picked} onChange={setPicked} />
        <TextField
          label="ID"
          value={slug}
          onChange={(text) => {
            setTyped(text)
            if (state.at === 'failed') reset()
          }}
          problem={problem}
          hint="Used in code and links. It can’t be changed later."
        />
        {problem === undefined && (
          <UploadShown
            state={state}
            arrived={{ to: places.testset(slug), label: `Look whether ${slug} is there` }}
            retry={() => void send()}
          />
        )}
      </FileDrop>
    </Modal>
  )
}

/** The server's message about the ID; undefined if something else is wrong. */
function problemOfSlug(error: unknown): string | undefined {
  if (!(error instanceof Problem)) return undefined
  return error.of('testset_slug') ?? (/^slug_/.test(error.code) ? error.message : undefined)
}

/** An ID made from a file name. */
function slugOf(name: string): string {
  return name
    .replace(/(\.(csv|tsv|jsonl?|ndjson|xlsx|gz))+$/i, '')
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9_]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 80)
    .toLowerCase()
}
