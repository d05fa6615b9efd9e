import { lazy, Suspense } from 'react'
import styles from './editor.module.css'
import type { EditorProps } from './editor-props.ts'

const CodeMirror = lazy(() => import('./code-mirror.tsx'))

/** A text editor: CodeMirror, loaded at its first use. Tab and Escape leave it. */
export function Editor(props: EditorProps) {
  return (
    <Suspense fallback={<Waiting text={props.value} />}>
      <CodeMirror {...props} />
    </Suspense>
  )
}

/** Shown while the editor loads. */
export function Waiting({ text }: { readonly text: string }) {
  return (
    <pre className={styles.waiting} dir="auto">
      {text.slice(0, 4000)}
    </pre>
  )
}
