import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './ui/base.css'
import './ui/fonts.css'
import './ui/tokens.css'
import './ui/mantine.css'
import './ui/look.css'
import { App } from './shell/app.tsx'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
