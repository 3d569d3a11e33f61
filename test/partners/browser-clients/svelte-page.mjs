// The page of `chat.svelte`.
import { mount } from 'svelte';
import Chat from './chat.svelte';

mount(Chat, { target: document.body });
