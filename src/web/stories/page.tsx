import { type ReactNode, useState } from 'react'
import { Page } from '../parts/page/page.tsx'
import styles from './stories.module.css'
import { ExactNumber } from '../api/json.ts'
import { Problem, Unreachable } from '../api/call.ts'
import { Button } from '../parts/button/button.tsx'
import { Conversation } from '../parts/conversation/conversation.tsx'
import { Editor } from '../parts/editor/editor.tsx'
import { EvaluationState } from '../parts/evaluation/evaluation.tsx'
import { ChoiceField, LongTextField, TextField } from '../parts/fields/fields.tsx'
import { JsonView } from '../parts/json/json-view.tsx'
import Markdown from '../parts/markdown/markdown.tsx'
import { Menu } from '../parts/menu/menu.tsx'
import { Failure, Progress, Skeleton } from '../parts/states/states.tsx'
import { UploadShown } from '../parts/upload/upload.tsx'

/** Parts in states that a page shows seldom, for development: `npm run dev`, at `/stories`. */
export default function StoriesPage() {
  return (
    <Page crumbs={[{ label: 'Parts' }]} wide>
      <div className={styles.stories}>
        {STORIES.map(([name, drawn]) => (
          <Story key={name} name={name}>
            {drawn}
          </Story>
        ))}
      </div>
    </Page>
  )
}

function Story({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <section className={styles.story} aria-label={name}>
      <h2>{name}</h2>
      {children}
    </section>
  )
}

const HOSTILE = '<script>alert(1)</script> \u202Egnp.exe'
const nothing = (): void => undefined

/** The parts by name, in states that a page shows seldom. */
const STORIES: readonly (readonly [name: string, drawn: ReactNode])[] = [
  [
    'Buttons',
    <div className="row">
      <Button kind="primary">Commit to main</Button>
      <Button>Cancel</Button>
      <Button kind="quiet">Show more</Button>
      <Button kind="danger">Delete support-bot</Button>
      <Button busy>Committing …</Button>
      <Button refusal="No changes.">Commit to main</Button>
      <Menu label="More" items={[{ label: 'Fork …', note: 'from v3', run: nothing }]} />
    </div>,
  ],
  ['Fields', <Fields />],
  [
    'Evaluation states',
    <div className="row">
      {(['running', 'finished', 'interrupted'] as const).map((state) => (
        <EvaluationState key={state} state={state} />
      ))}
    </div>,
  ],
  [
    'Conversation',
    <Conversation
      marked={1}
      messages={[
        { role: 'system', content: 'You answer tickets.\nBe kind.' },
        { role: 'user', content: HOSTILE },
        {
          role: 'assistant',
          tool_calls: [{ id: 'call_1', function: { name: 'find_page', arguments: '{"id": 7}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'Page 7' }] },
      ]}
    />,
  ],
  [
    'JSON',
    <JsonView
      name="data"
      value={{ seed: new ExactNumber('12345678901234567890'), list: [1, 'two', null], text: HOSTILE }}
    />,
  ],
  ['Editor', <Edited />],
  [
    'Markdown',
    <Markdown text={'# Title\n\n- one\n- [two](https://example.com)\n\n![a picture](http://x/y.png)'} />,
  ],
  ['Loading', <Skeleton label="Loading" lines={3} />],
  ['Progress', <Progress label="Running" done={3} total={12} unit="rows" />],
  ['Failure', <Failure error={new Problem(409, { detail: 'The slug "bot" is taken.' })} retry={nothing} />],
  [
    'Upload whose answer is lost',
    <UploadShown
      state={{ at: 'failed', error: new Unreachable(), isSent: true }}
      arrived={{ to: '/', label: 'See the versions of rows' }}
      retry={nothing}
    />,
  ],
]

function Fields() {
  const [text, setText] = useState('bot')
  const common = { value: text, onChange: setText }
  return (
    <>
      <TextField label="Slug" {...common} hint="Used in code and links. It can’t be changed later." />
      <TextField label="Taken slug" {...common} problem="is taken" />
      <LongTextField label="Message" {...common} rows={2} />
      <ChoiceField
        label="Format"
        {...common}
        choices={['bot', 'curly'].map((value) => ({ value, label: value }))}
      />
    </>
  )
}

function Edited() {
  const [value, setValue] = useState('{"temperature": 0.7}')
  return <Editor label="Parameters" language="json" value={value} onChange={setValue} />
}
